// oidc-provider with tokens that are bound to a key (RFC 9449) or to a certificate (RFC 8705), on a thread of its own. Messages ask it for codes.
import { createHash, X509Certificate } from 'node:crypto'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { parentPort, workerData } from 'node:worker_threads'
import '../../support/url-parse.mjs'
import { Provider } from 'oidc-provider'

const REDIRECT = 'https://app.example/callback'
const { tls, clientCert, demandsNonce } = workerData
const handle = (request, response) =>
  request.url === '/api' ? answerApi(request, response) : provider.callback()(request, response)
const server = tls
  ? createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false }, handle)
  : createServer(handle)
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const origin = tls ? `https://localhost:${server.address().port}` : `http://127.0.0.1:${server.address().port}`

const redirects = { response_types: ['code'], redirect_uris: [REDIRECT] }
const clients = [
  {
    ...redirects,
    client_id: 'public-client',
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    dpop_bound_access_tokens: true,
  },
  {
    client_id: 'key-client',
    client_secret: 'secret-of-nobody',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    dpop_bound_access_tokens: true,
  },
]
if (clientCert) {
  const { raw, publicKey } = new X509Certificate(clientCert)
  clients.push({
    client_id: 'certificate-client',
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    token_endpoint_auth_method: 'self_signed_tls_client_auth',
    tls_client_certificate_bound_access_tokens: true,
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), x5c: [raw.toString('base64')] }] },
  })
}
const certificateOf = (socket) => socket.getPeerX509Certificate?.()

const provider = new Provider(origin, {
  clients,
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    dPoP: { enabled: true, nonceSecret: Buffer.alloc(32, 7), requireNonce: () => demandsNonce === true },
    mTLS: {
      enabled: clientCert !== undefined,
      certificateBoundAccessTokens: true,
      selfSignedTlsClientAuth: true,
      getCertificate: ({ socket }) => certificateOf(socket),
    },
  },
  clientAuthMethods: ['client_secret_basic', 'none', ...(clientCert ? ['self_signed_tls_client_auth'] : [])],
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  pkce: { required: () => false },
  rotateRefreshToken: true,
  scopes: ['openid', 'offline_access'],
})

/** An API that takes tokens of this provider from those alone who show the certificate of the token (RFC 8705, section 3). */
async function answerApi({ headers, socket }, response) {
  const token = await provider.ClientCredentials.find(headers.authorization?.replace('Bearer ', ''))
  const shown = certificateOf(socket)?.raw
  const isBound = shown && token?.['x5t#S256'] === createHash('sha256').update(shown).digest('base64url')
  response.writeHead(isBound ? 200 : 401).end()
}

const does = {
  start: () => origin,
  /** Does what the pages of the provider do after a login and a consent. @returns The code for the token endpoint. */
  async logIn() {
    const clientId = 'public-client'
    const client = await provider.Client.find(clientId)
    const grant = new provider.Grant({ accountId: 'somebody', clientId })
    const scope = 'openid offline_access'
    grant.addOIDCScope(scope)
    const grantId = await grant.save()
    const gty = 'authorization_code'
    const code = new provider.AuthorizationCode({
      accountId: 'somebody',
      client,
      grantId,
      redirectUri: REDIRECT,
      scope,
      gty,
    })
    return { code: await code.save(), redirect_uri: REDIRECT }
  },
  stop() {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  },
}

parentPort.on('message', async (name) => {
  try {
    parentPort.postMessage({ result: await does[name]() })
  } catch (error) {
    parentPort.postMessage({ error: String(error.stack) })
  }
  if (name === 'stop') parentPort.close()
})
