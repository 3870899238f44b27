// oidc-provider for a page, on a thread of its own. At its login page a person writes a name, or says no. Its session lives on, so a person who comes
// again is not asked.
import { workerData } from 'node:worker_threads'
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening } from './provider-thread.mjs'
import '../../support/url-parse.mjs'
import { interactionPolicy, Provider } from 'oidc-provider'

/** Method and path of each request. */
const requests = []
const { origin, stop } = await listening((request, response) => {
  const { pathname } = new URL(request.url, 'http://provider')
  if (request.method !== 'OPTIONS') requests.push(`${request.method} ${pathname}`)
  if (!pathname.startsWith('/interaction/')) return provider.callback()(request, response)
  if (request.method === 'POST') return void finish(request, response)
  response.setHeader('Content-Type', 'text/html')
  response.end(
    '<form method="post"><input name="name"><button>Log in</button><button name="factor">With a key</button><button name="no">No</button></form>',
  )
})

/** A session without a second factor does not do for a request that names one (OpenID Connect Core, section 3.1.2.1: `acr_values`). */
const policy = interactionPolicy.base()
const isEnough = ({ oidc: { params, session } }) =>
  !params.acr_values || params.acr_values.split(' ').includes(session.acr)
policy
  .get('login')
  .checks.add(new interactionPolicy.Check('acr', 'another level is requested', (context) => !isEnough(context)))

const provider = new Provider(origin, {
  acrValues: ['mfa'],
  claims: { openid: ['sub', 'level'] },
  clients: [
    {
      client_id: 'my-page',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [`${workerData.page}/callback`],
      post_logout_redirect_uris: [`${workerData.page}/`],
    },
  ],
  clientBasedCORS: () => true,
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  extraTokenClaims: ({ oidc: { entities } }) => ({ acr: (entities.AuthorizationCode ?? entities.RefreshToken)?.acr }),
  interactions: { policy, url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: (_, id, token) => ({ accountId: id, claims: () => ({ sub: id, level: token?.extra?.acr }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 600, RefreshToken: 86_400 },
})

async function finish(request, response) {
  const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
  if (form.has('no')) return provider.interactionFinished(request, response, { error: 'access_denied' })
  const { params, session } = await provider.interactionDetails(request, response)
  const accountId = form.get('name') || session?.accountId
  const grant = new provider.Grant({ accountId, clientId: params.client_id })
  grant.addOIDCScope('openid offline_access')
  const login = { accountId, ...(form.has('factor') && { acr: 'mfa' }) }
  const result = { login, consent: { grantId: await grant.save() } }
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

const does = {
  start: () => origin,
  requests: () => requests,
  stop,
}

serveRequests(does)
