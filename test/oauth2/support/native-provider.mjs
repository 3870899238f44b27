// oidc-provider for a native application, on a thread of its own. Everybody who comes to its login page is logged in at once. Refresh tokens are
// good for one use. Access tokens of a login live for a second, those of a refresh for ten minutes.
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening } from './provider-thread.mjs'
import '../../support/url-parse.mjs'
import { Provider } from 'oidc-provider'

const { origin, stop } = await listening((request, response) => {
  if (request.url.startsWith('/interaction/')) return void logIn(request, response)
  if (request.url === '/token' && isHolding) hold(response)
  return provider.callback()(request, response)
})

const device = 'urn:ietf:params:oauth:grant-type:device_code'
const provider = new Provider(origin, {
  clients: [
    {
      client_id: 'my-tool',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token', device],
      response_types: ['code'],
      // Of a loopback address a native application may use any port (RFC 8252, section 7.3).
      redirect_uris: ['http://127.0.0.1/callback'],
    },
  ],
  features: { devInteractions: { enabled: false }, deviceFlow: { enabled: true }, revocation: { enabled: true } },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  rotateRefreshToken: true,
  scopes: ['openid', 'offline_access'],
  ttl: { AccessToken: ({ oidc }) => (oidc.params.grant_type === 'refresh_token' ? 600 : 1), RefreshToken: 86_400 },
})

/** The grant of each token call, and `revoked`. */
const calls = []
for (const [event, how] of Object.entries({ 'grant.success': '', 'grant.error': ' refused' }))
  provider.on(event, ({ oidc }) => {
    // A device asks again and again until the person has logged in.
    if (oidc.params.grant_type !== device || how === '') calls.push(oidc.params.grant_type + how)
  })
provider.on('grant.revoked', () => calls.push('revoked'))

async function logIn(request, response) {
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: 'alice', clientId: params.client_id })
  grant.addOIDCScope(params.scope)
  const consent = { grantId: await grant.save() }
  await provider.interactionFinished(request, response, { login: { accountId: 'alice' }, consent })
}

/** Answers of the token endpoint that nobody has got yet. */
const held = []
let isHolding = false

function hold(response) {
  const end = response.end.bind(response)
  response.end = (...args) => {
    held.push(() => end(...args))
    return response
  }
}

const does = {
  start: () => origin,
  calls: () => calls,
  held: () => held.length,
  hold: () => void (isHolding = true),
  letGo() {
    isHolding = false
    for (const go of held.splice(0)) go()
  },
  stop,
}

serveRequests(does)
