// oidc-provider for an MCP server, on a thread of its own: dynamic registration, resource indicators, rotation, detection of reuse, revocation.
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening } from './provider-thread.mjs'
import '../../support/url-parse.mjs'
import { Provider } from 'oidc-provider'

const SCOPES = 'read admin'
const counts = { codes: 0, refreshes: 0, revokedGrants: 0, registrations: 0, refusals: 0 }
/** The `resource` of each successful token call, by its grant. */
const resources = []
const accessTokens = new Set()

const { origin, stop } = await listening((request, response) => {
  const { pathname } = new URL(request.url, 'http://provider')
  return pathname.startsWith('/interaction/') ? void agree(request, response) : provider.callback()(request, response)
})

const provider = new Provider(origin, {
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, resource) => ({ scope: SCOPES, audience: resource, accessTokenFormat: 'opaque' }),
      useGrantedResource: () => false,
    },
  },
  scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
  clientDefaults: { grant_types: ['authorization_code', 'refresh_token'] },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { AccessToken: 600, RefreshToken: 86_400, Grant: 86_400, Session: 86_400, Interaction: 600 },
})
// A client that registers may step up later: what it names at its registration is no limit.
provider.use(async (ctx, next) => {
  if (ctx.path === '/reg' && ctx.method === 'POST') {
    const asked = JSON.parse(Buffer.concat(await ctx.req.toArray()).toString())
    ctx.req.body = { ...asked, scope: undefined }
  }
  await next()
})
provider.on('registration_create.success', () => (counts.registrations += 1))
provider.on('grant.revoked', () => (counts.revokedGrants += 1))
provider.on('grant.error', () => (counts.refusals += 1))
provider.on('grant.success', ({ oidc: { params } }) => {
  counts[params.grant_type === 'refresh_token' ? 'refreshes' : 'codes'] += 1
  resources.push([params.grant_type, params.resource])
})
provider.on('access_token.saved', (token) => accessTokens.add(token))
const grants = new Set()

/** The person logs in, and agrees to all that the client asks for. */
async function agree(request, response) {
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: 'somebody', clientId: params.client_id })
  for (const resource of [params.resource].flat()) grant.addResourceScope(resource, params.scope ?? '')
  grant.addOIDCScope(params.scope ?? '')
  const result = { login: { accountId: 'somebody' }, consent: { grantId: await grant.save() } }
  grants.add(grant)
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

const does = {
  start: () => origin,
  counts: () => counts,
  resources: () => resources,
  /** What the MCP server learns of an access token. */
  async scopeOf({ token, resource }) {
    const found = await provider.AccessToken.find(token)
    return found?.isValid && found.aud === resource ? (found.scope ?? '') : undefined
  },
  async expireAccess() {
    for (const token of accessTokens) await token.destroy()
    accessTokens.clear()
  },
  async revokeGrants() {
    for (const grant of grants) await grant.destroy()
    grants.clear()
  },
  stop,
}

serveRequests(does)
