// oidc-provider on a thread of its own, because it is ESM only. Messages tell it what to do; it answers each with a message.
import { workerData } from 'node:worker_threads'
import { Provider } from 'oidc-provider'
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening, movableClock } from './provider-thread.mjs'

const REDIRECT = 'https://app.example/callback'
const { clientId, clientSecret, rotates, accessLifetimeS, refreshLifetimeS } = workerData

const moveClock = movableClock()
const { origin, stop } = await listening((request, response) => provider.callback()(request, response))
const client = {
  client_id: clientId,
  client_secret: clientSecret,
  grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
  response_types: ['code'],
  redirect_uris: [REDIRECT],
}
const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
  'sign',
  'verify',
])
const keyClient = {
  ...client,
  client_id: 'key-client',
  client_secret: undefined,
  token_endpoint_auth_method: 'private_key_jwt',
  token_endpoint_auth_signing_alg: 'ES256',
  jwks: { keys: [await crypto.subtle.exportKey('jwk', publicKey)] },
}
const postClient = { ...client, client_id: 'post-client', token_endpoint_auth_method: 'client_secret_post' }
const provider = new Provider(origin, {
  clients: [client, postClient, keyClient],
  features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  pkce: { required: () => false },
  rotateRefreshToken: rotates,
  scopes: ['openid', 'offline_access', 'read'],
  ttl: { AccessToken: accessLifetimeS, ClientCredentials: accessLifetimeS, RefreshToken: refreshLifetimeS, Grant: 1e6 },
})

const grants = []
const does = {
  start: async () => ({
    issuer: origin,
    tokenEndpoint: `${origin}/token`,
    privateKey: await crypto.subtle.exportKey('jwk', privateKey),
  }),
  /** Does what the pages of the provider do after a login and a consent. @returns The code for the token endpoint. */
  async logIn() {
    const known = await provider.Client.find(clientId)
    const grant = new provider.Grant({ accountId: 'somebody', clientId })
    grant.addOIDCScope('openid offline_access')
    const grantId = await grant.save()
    grants.push(grant)
    const scope = 'openid offline_access'
    const code = new provider.AuthorizationCode({
      ...{ accountId: 'somebody', client: known, grantId, redirectUri: REDIRECT, scope, gty: 'authorization_code' },
    })
    return { code: await code.save(), redirect_uri: REDIRECT }
  },
  async changeSecret(secret) {
    const known = await provider.Client.find(clientId)
    known.clientSecret = secret
  },
  async revokeGrants() {
    await Promise.all(grants.splice(0).map((grant) => grant.destroy()))
  },
  moveClock,
  stop,
}

serveRequests(does)
