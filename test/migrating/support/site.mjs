// oidc-provider, an API and a page, on a thread of their own. Users are logged in without being asked. Access tokens are JWTs, which keycloak-js decodes.
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { createLocalJWKSet, jwtVerify } from 'jose'
import { serveRequests } from '../../support/worker-requests.mjs'
import { listening } from '../../oauth2/support/provider-thread.mjs'
import '../../support/url-parse.mjs'
import { Provider } from 'oidc-provider'

const counts = { logins: 0, refreshes: 0, reuseAlarms: 0, rejected: 0 }
const served = new Set()
/** Access tokens that the API has accepted, and those that it accepts no more. */
const [seen, expired] = [new Set(), new Set()]
/** Which program the page has: `before` or `after`. */
let deployed = 'before'

const page = await listening(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://page')
  if (pathname === '/api/wallet') return answerWallet(request, response, searchParams.get('n'))
  if (pathname.startsWith('/auth/v1/')) return actAsSupabase(request, response, pathname, searchParams)
  const file = join(workerData.pages, deployed, pathname)
  const isScript = pathname.endsWith('.js') && existsSync(file)
  response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html')
  response.setHeader('Cache-Control', 'no-store')
  response.end(
    isScript ? placed(readFileSync(file, 'utf8')) : '<!doctype html><script type="module" src="/main.js"></script>',
  )
})

const placed = (script) =>
  Object.entries({
    'https://id.example.com': front.origin,
    'https://project.example.com': page.origin,
    '"METADATA"': metadata(),
  }).reduce((text, [name, value]) => text.replaceAll(name, value), script)

const front = await listening((request, response) => {
  // auth0-spa-js, for a domain that ends with a slash.
  request.url = request.url.replace(/^\/+/, '/').replace(/^\/authorize\?(?!.*prompt=)/, '$&prompt=consent&') // or there is no offline_access
  if (request.headers.origin) allowOrigin(request.headers.origin, response)
  if (request.method === 'OPTIONS')
    return response.writeHead(204, { 'Access-Control-Allow-Headers': '*, auth0-client, content-type' }).end()
  const { pathname } = new URL(request.url, 'http://provider')
  return pathname.startsWith('/interaction/') ? logIn(request, response) : provider.callback()(request, response)
})

/** The provider does not allow cookies, which keycloak-js asks for. */
function allowOrigin(origin, response) {
  const writeHead = response.writeHead.bind(response)
  response.writeHead = (...given) => {
    response.setHeader('Access-Control-Allow-Origin', origin)
    response.setHeader('Access-Control-Allow-Credentials', 'true')
    return writeHead(...given)
  }
}

const issuer = `${front.origin}${workerData.issuerPath ?? ''}`
const client = {
  client_id: 'my-page',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  redirect_uris: [`${page.origin}/callback`],
}
const provider = new Provider(issuer, {
  clients: [client],
  routes: { authorization: '/authorize', token: '/oauth/token', revocation: '/oauth/revoke' },
  scopes: ['openid', 'offline_access', 'profile', 'email', 'orders'],
  features: {
    devInteractions: { enabled: false },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, __, oneOf) => oneOf ?? 'urn:api',
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: 'orders', accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
    },
  },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  ttl: { RefreshToken: 86_400 },
})
// Like those of Keycloak, which keycloak-js decodes.
provider.RefreshToken.prototype.generateTokenId = () => `e30.e30.${randomBytes(32).toString('base64url')}`
provider.on('grant.success', ({ oidc }) => {
  counts[oidc.params.grant_type === 'refresh_token' ? 'refreshes' : 'logins'] += 1
})
provider.on('grant.revoked', () => (counts.reuseAlarms += 1))

async function logIn(request, response) {
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: 'ada', clientId: params.client_id })
  grant.addOIDCScope('openid offline_access profile email orders')
  grant.addResourceScope('urn:api', 'orders')
  const result = { login: { accountId: 'ada' }, consent: { grantId: await grant.save() } }
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false })
}

async function answerWallet(request, response, n) {
  const token = (request.headers.authorization ?? '').replace('Bearer ', '')
  const isValid = !expired.has(token) && (await verified(token))
  if (isValid) seen.add(token)
  if (isValid && n !== null) served.add(n)
  if (!isValid && n !== null) counts.rejected += 1
  json(response, isValid ? 200 : 401, { n })
}

let keys
async function verified(token) {
  keys ??= createLocalJWKSet(await (await fetch(`${front.origin}/jwks`)).json())
  return jwtVerify(token, keys).then(
    ({ payload }) => payload.sub === 'ada',
    () => false,
  )
}

/** The API of Supabase Auth, whose tokens are those of the provider. */
async function actAsSupabase(request, response, pathname, searchParams) {
  const body = JSON.parse(Buffer.concat(await request.toArray()).toString() || '{}')
  if (pathname !== '/auth/v1/token') return json(response, 204)
  const isRefresh = searchParams.get('grant_type') === 'refresh_token'
  const form = isRefresh ? { grant_type: 'refresh_token', refresh_token: body.refresh_token } : await redeemable()
  const answer = await fetch(`${front.origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: 'my-page', ...form }),
  })
  const { access_token, refresh_token, expires_in, error } = await answer.json()
  if (error) return json(response, 400, { code: 400, error_code: 'refresh_token_not_found', msg: error })
  json(response, 200, { access_token, refresh_token, expires_in, token_type: 'bearer', user: { id: 'ada' } })
}

/** Follows the redirects of a login. @returns what redeems its code */
async function redeemable() {
  const code_verifier = randomBytes(32).toString('base64url')
  const redirect_uri = `${page.origin}/callback`
  const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
  const asked = {
    client_id: 'my-page',
    response_type: 'code',
    scope: 'openid profile offline_access orders',
    redirect_uri,
  }
  let next = `${front.origin}/authorize?${new URLSearchParams({ ...asked, code_challenge, code_challenge_method: 'S256' })}`
  const cookies = new Map()
  for (;;) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const { headers } = await fetch(next, { redirect: 'manual', headers: { cookie } })
    for (const set of headers.getSetCookie()) cookies.set(...set.split(';', 1)[0].split(/=(.*)/s, 2))
    next = new URL(headers.get('location'), next).href
    const code = new URL(next).searchParams.get('code')
    if (code) return { grant_type: 'authorization_code', code, code_verifier, redirect_uri }
  }
}

/** For MSAL, which insists on https. */
const metadata = () =>
  JSON.stringify(
    JSON.stringify({
      issuer,
      authorization_endpoint: `${front.origin}/authorize`,
      token_endpoint: `${front.origin}/oauth/token`,
      end_session_endpoint: `${front.origin}/session/end`,
      jwks_uri: `${front.origin}/jwks`,
    }),
  )

function json(response, status, document) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
  response.end(document && JSON.stringify(document))
}

const does = {
  start: () => ({ page: page.origin, issuer, metadata: metadata() }),
  deploy: () => void (deployed = 'after'),
  /** @returns what a Node program redeems its code with */
  redeemable,
  counts: () => ({ ...counts, served: served.size }),
  expireAccess: () => seen.forEach((token) => expired.add(token)),
  stop: () => Promise.all([page, front].map((server) => server.stop())),
}

serveRequests(does)
