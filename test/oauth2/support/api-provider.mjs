// oidc-provider whose access tokens are each for one API (RFC 8707), on a thread of its own. Messages tell it what to do; it answers each with a message.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening, movableClock } from './provider-thread.mjs'
import '../../support/url-parse.mjs'
import { errors, Provider } from 'oidc-provider'

const REDIRECT = 'https://app.example/callback'
const SCOPE = 'openid offline_access'
const { apis, accessLifetimeS } = workerData

const moveClock = movableClock()
const { origin, stop } = await listening((request, response) => provider.callback()(request, response))
const client = {
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  redirect_uris: [REDIRECT],
  token_endpoint_auth_method: 'none',
}
const provider = new Provider(origin, {
  clients: [
    { ...client, client_id: 'app' },
    { ...client, client_id: 'dpop-app', dpop_bound_access_tokens: true },
  ],
  features: {
    devInteractions: { enabled: false },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_, resource) {
        if (!apis.includes(resource)) throw new errors.InvalidTarget()
        return { scope: 'read', audience: resource, accessTokenFormat: 'jwt', accessTokenTTL: accessLifetimeS }
      },
      useGrantedResource: () => false,
    },
    revocation: { enabled: true },
  },
  clientAuthMethods: ['none'],
  clientBasedCORS: () => true,
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  pkce: { required: () => false },
  rotateRefreshToken: true,
  scopes: [...SCOPE.split(' '), 'read'],
  ttl: { AccessToken: accessLifetimeS, RefreshToken: 1e6, Grant: 1e6 },
})

/** What happens to refresh tokens. */
const counts = { refreshes: 0, reuses: 0 }
provider.on('grant.success', ({ oidc }) => {
  if (oidc.params.grant_type === 'refresh_token') counts.refreshes += 1
})
provider.on('grant.error', (_, { error_description: text, error_detail: detail }) => {
  if (/already used/.test(`${text} ${detail}`)) counts.reuses += 1
})

const does = {
  start: () => origin,
  counts: () => counts,
  /** Does what the pages of the provider do after a login and a consent. @returns The code for the token endpoint. */
  async logIn([clientId, accountId]) {
    const known = await provider.Client.find(clientId)
    const grant = new provider.Grant({ accountId, clientId })
    grant.addOIDCScope(SCOPE)
    for (const api of apis) grant.addResourceScope(api, 'read')
    const grantId = await grant.save()
    const code = new provider.AuthorizationCode({
      ...{ accountId, client: known, grantId, redirectUri: REDIRECT, scope: `${SCOPE} read`, resource: apis },
      gty: 'authorization_code',
    })
    return { code: await code.save(), redirect_uri: REDIRECT }
  },
  moveClock,
  stop,
}

serveRequests(does)
