// What the built package must do in every runtime. So nothing of a single runtime is used here: no node:*, no process.
import axios from 'axios'
import {
  attachBearer,
  clientCredentials,
  createTokenManager,
  isTokenError,
  loginPassword,
  memoryStore,
  TokenError,
  toTokenError,
} from 'axios-evergreen'
import { dpopKey } from 'axios-evergreen/dpop'
import { withBearer } from 'axios-evergreen/fetch'
import { mcpLogin } from 'axios-evergreen/mcp'
import { oauth2 } from 'axios-evergreen/oauth2'
import { sharedStore } from 'axios-evergreen/store'

/** @returns The checks, as `{ name, run }`. @param origin Of the server that starts simulated services for the checks (lib/services.mjs). */
export function checksOn(origin) {
  const checks = []
  const check = (name, run, options) => checks.push({ name, run: async () => run(await worldOn(origin, options)) })

  check('the package is imported', () => {
    for (const made of [attachBearer, clientCredentials, createTokenManager, isTokenError, loginPassword, memoryStore])
      equal(typeof made, 'function')
    equal([typeof TokenError, typeof toTokenError, typeof sharedStore], ['function', 'function', 'function'])
  })

  check('a request carries the token', async ({ api, seen }) => {
    await api.get('/wallet')
    await api.get('wallet')
    equal(await seen('token obtain'), 1)
  })

  check('a request through the fetch adapter carries the token', async ({ make }) => {
    await make({ adapter: 'fetch' }).api.get('/wallet')
  })

  check('a hundred requests at once cost one token call', async ({ api, seen }) => {
    await Promise.all(Array.from({ length: 100 }, () => api.get('/wallet')))
    equal(await seen('token obtain'), 1)
  })

  check('a body is sent', async ({ api }) => {
    const { data } = await api.post('/orders', { amount: 7 })
    equal(JSON.parse(data.body), { amount: 7 })
  })

  check('a rejected token is replaced, and the request is sent once more', async ({ api, service, seen }) => {
    await api.get('/wallet')
    await service('revokeAccessTokens')
    const { data } = await api.post('/orders', { amount: 7 })
    equal(JSON.parse(data.body), { amount: 7 })
    equal([await seen('token obtain'), await seen('resource')], [2, 3])
  })

  check('a second rejection surfaces as it is', async ({ api, service, seen }) => {
    await service('failNext', 'resource', { status: 401 }, 2)
    equal((await failure(api.get('/wallet'))).response.status, 401)
    equal(await seen('resource'), 2)
  })

  check('a rejected token is replaced under validateStatus, too', async ({ make, service }) => {
    const { api } = make({ validateStatus: () => true })
    await service('failNext', 'resource', { status: 401 })
    equal((await api.get('/wallet')).status, 200)
  })

  check('a response shows no token', async ({ api, tokens }) => {
    const response = await api.get('/wallet')
    const token = tokens.peekAccessToken()
    lacks(JSON.stringify({ ...response, request: undefined, data: undefined }), token)
    equal(response.config.headers.get('Authorization') ?? undefined, undefined)
  })

  check('an error shows no token', async ({ api, tokens, service }) => {
    await service('failNext', 'resource', { status: 500 })
    const error = await failure(api.get('/wallet'))
    equal(error.response.status, 500)
    for (const text of [JSON.stringify(error), String(error), error.stack]) lacks(text, tokens.peekAccessToken())
  })

  check('another origin gets no token', async ({ api, tokens, service, elsewhere }) => {
    const kinds = []
    tokens.on('anomaly', ({ kind }) => kinds.push(kind))
    const { data } = await axios.create().get(`${elsewhere}/echo`)
    equal(data.authorization, undefined)
    equal((await api.get(`${elsewhere}/echo`)).data.authorization, undefined)
    await turn()
    equal([kinds, await service('count', 'obtain')], [['origin-not-allowed'], 0])
  })

  check('a redirect to another origin carries no token there', async ({ api, service, elsewhere }) => {
    await service('failNext', 'resource', { status: 302, headers: { Location: `${elsewhere}/echo` } })
    equal((await api.get('/wallet')).data.authorization, undefined)
  })

  check('evergreen: false sends a request without a token', async ({ api, seen }) => {
    equal((await failure(api.get('/wallet', { evergreen: false }))).response.status, 401)
    equal(await seen('token obtain'), 0)
  })

  check('a header of its own is left alone', async ({ api, seen }) => {
    const headers = { Authorization: 'Bearer mine' }
    equal((await failure(api.get('/wallet', { headers }))).response.status, 401)
    equal(await seen('token obtain'), 0)
  })

  check('an instance is detached', async ({ api, attachment }) => {
    await api.get('/wallet')
    attachment.detach()
    equal((await failure(api.get('/wallet'))).response.status, 401)
  })

  check('peek gives the token, and nothing before the first', async ({ tokens }) => {
    equal(tokens.peekAccessToken(), undefined)
    const token = await tokens.getAccessToken()
    equal(tokens.peekAccessToken(), token)
    equal(tokens.status().phase, 'fresh')
  })

  check('renew gets another token', async ({ tokens }) => {
    const before = await tokens.getAccessToken()
    await tokens.renew()
    differ(await tokens.getAccessToken(), before)
  })

  check('reset forgets the token', async ({ tokens, seen }) => {
    await tokens.getAccessToken()
    await tokens.reset()
    equal([tokens.peekAccessToken(), tokens.status().phase], [undefined, 'empty'])
    await tokens.getAccessToken()
    equal(await seen('token obtain'), 2)
  })

  check('close ends it', async ({ api, tokens }) => {
    await tokens.getAccessToken()
    await tokens.close()
    equal([(await failure(api.get('/wallet'))).code, tokens.status().phase], ['ERR_CLOSED', 'closed'])
  })

  check(
    'a caller who aborts does not end the renewal',
    async ({ tokens, service }) => {
      const controller = new AbortController()
      const [left, stays] = [failure(tokens.getAccessToken({ signal: controller.signal })), tokens.getAccessToken()]
      controller.abort(new Error('enough'))
      equal((await left).message, 'enough')
      equal([typeof (await stays), await service('count', 'obtain')], ['string', 1])
    },
    { latencyMs: 50 },
  )

  check(
    'a request that is aborted ends as axios ends it',
    async ({ api }) => {
      const controller = new AbortController()
      const ended = failure(api.get('/wallet', { signal: controller.signal }))
      await turn()
      controller.abort()
      equal((await ended).code, 'ERR_CANCELED')
    },
    { latencyMs: 200 },
  )

  check('the timeout of a request ends its wait', async ({ api, service }) => {
    await service('failNext', 'obtain', { hang: true })
    equal((await failure(api.get('/wallet', { timeout: 50 }))).code, 'ECONNABORTED')
  })

  check('a token call that hangs ends by its limit', async ({ make, service }) => {
    const { tokens } = make({}, { exchangeTimeoutMs: 50, retry: { maxAttempts: 1 } })
    await service('failNext', 'obtain', { hang: true })
    equal((await failure(tokens.getAccessToken())).code, 'ERR_TOKEN_SERVICE_UNAVAILABLE')
  })

  check('wrong credentials cost one call', async ({ make, seen, service }) => {
    const { tokens } = make()
    await service('failNext', 'obtain', { status: 401 })
    for (let n = 0; n < 3; n += 1) equal((await failure(tokens.getAccessToken())).code, 'ERR_CREDENTIALS_REJECTED')
    equal(await seen('token obtain'), 1)
  })

  check('a service that fails is tried again', async ({ make, service, seen }) => {
    const { tokens } = make({}, { retry: { baseDelayMs: 1 } })
    await service('failNext', 'obtain', { status: 503 }, 2)
    await tokens.getAccessToken()
    equal(await seen('token obtain'), 3)
  })

  check('Retry-After is respected', async ({ tokens, service, seen }) => {
    await service('failNext', 'obtain', { status: 429, headers: { 'Retry-After': '120' } })
    const error = await failure(tokens.getAccessToken())
    equal([error.code, error.retryAt > Date.now() + 100_000], ['ERR_THROTTLED', true])
    equal((await failure(tokens.renew())).code, 'ERR_THROTTLED')
    equal(await seen('token obtain'), 1)
  })

  check('a token call is never redirected', async ({ tokens, service, elsewhere }) => {
    await service('failNext', 'obtain', { status: 307, headers: { Location: `${elsewhere}/echo` } })
    const { code } = await failure(tokens.getAccessToken())
    // fetch shows neither the target of the redirect nor its status.
    equal(['ERR_TOKEN_REQUEST', 'ERR_TOKEN_SERVICE_UNAVAILABLE'].includes(code), true)
  })

  check('a response that is no document is rejected', async ({ make, service }) => {
    const { tokens } = make({}, { retry: { maxAttempts: 1 } })
    await service('failNext', 'obtain', { corrupt: 'json' })
    equal((await failure(tokens.getAccessToken())).code, 'ERR_TOKEN_RESPONSE')
  })

  check('no server at the address: the error says so, and contains no secret', async ({ make }) => {
    const { tokens } = make({}, { retry: { maxAttempts: 1 } }, { baseUrl: 'http://127.0.0.1:1/' })
    const error = await failure(tokens.getAccessToken())
    equal(error.code, 'ERR_TOKEN_SERVICE_UNAVAILABLE')
    for (const text of [JSON.stringify(error), error.stack]) lacks(text, 'clientSecret')
  })

  const B = { variant: 'B' }

  check(
    'Variant B: a response is verified, and its token set renewed',
    async ({ tokens, seen }) => {
      await tokens.getAccessToken()
      await tokens.renew()
      equal([await seen('token obtain'), await seen('refresh')], [1, 1])
    },
    B,
  )

  check(
    'Variant B: a wrong signature is rejected',
    async ({ make, service }) => {
      const { tokens } = make()
      await service('failNext', 'obtain', { corrupt: 'signature' }, 2)
      equal((await failure(tokens.getAccessToken())).code, 'ERR_SIGNATURE')
    },
    B,
  )

  check(
    'Variant B: a stolen refresh token is suspicious',
    async ({ tokens, service }) => {
      const told = []
      tokens.on('suspicious', (event) => told.push(event))
      await tokens.getAccessToken()
      await service('stealRefreshToken')
      await tokens.renew()
      await turn()
      equal(
        told.map(({ evidence }) => evidence),
        ['unexplained'],
      )
      equal(/^[0-9a-f]{8}$/.test(told[0].fingerprint), true)
    },
    B,
  )

  check(
    'a token falls due, and is renewed in the background',
    async ({ api, service }) => {
      await api.get('/wallet')
      await until(async () => {
        await api.get('/wallet')
        return (await service('count', 'obtain')) > 1
      })
    },
    { accessLifetimeMs: 3_000 },
  )

  check('managers share a memory store', async ({ make, seen }) => {
    const store = memoryStore()
    const [one, other] = [make({}, { store }), make({}, { store })]
    equal(await one.tokens.getAccessToken(), await other.tokens.getAccessToken())
    equal(await seen('token obtain'), 1)
  })

  check('managers share a store of their own, sealed', async ({ make, seen }) => {
    const register = registerInMemory()
    const key = crypto.getRandomValues(new Uint8Array(32))
    const store = () => sharedStore(register, { encryptionKeys: [{ id: 'k1', key }], commandTimeoutMs: 5_000 })
    const [one, other] = [make({}, { store: store() }), make({}, { store: store() })]
    const token = await one.tokens.getAccessToken()
    equal([await other.tokens.getAccessToken(), await seen('token obtain')], [token, 1])
    lacks(JSON.stringify([...register.values]), token)
  })

  check('a store is sealed with a CryptoKey that cannot be extracted', async ({ make }) => {
    const register = registerInMemory()
    const key = await crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
    const store = () => sharedStore(register, { encryptionKeys: [{ id: 'k1', key }], commandTimeoutMs: 5_000 })
    const token = await make({}, { store: store() }).tokens.getAccessToken()
    equal(await make({}, { store: store() }).tokens.getAccessToken(), token)
  })

  check('a token comes from an OAuth 2.0 server', async ({ client, tokenEndpoint, seen }) => {
    const tokens = createTokenManager({ source: oauth2({ tokenEndpoint, ...client }) })
    equal([typeof (await tokens.getAccessToken()), await seen('token obtain')], ['string', 1])
  })

  check('withBearer does the same for fetch', async ({ tokens, service, seen, tokenEndpoint }) => {
    const { origin } = new URL(tokenEndpoint)
    const apiFetch = withBearer(fetch, tokens)
    await apiFetch(`${origin}/wallet`)
    await service('revokeAccessTokens')
    const body = JSON.stringify({ amount: 7 })
    const answer = await (await apiFetch(`${origin}/orders`, { method: 'POST', body })).json()
    equal([JSON.parse(answer.body), await seen('token obtain')], [{ amount: 7 }, 2])
  })

  check(
    'tokens that are bound to a key are used, with a proof in each request',
    async ({ client, tokenEndpoint, service, seen }) => {
      const algorithm = { name: 'ECDSA', namedCurve: 'P-256' }
      const dpop = dpopKey(await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']))
      const tokens = createTokenManager({ source: oauth2({ tokenEndpoint, ...client, dpop }) })
      const { origin } = new URL(tokenEndpoint)
      const api = axios.create({ baseURL: origin })
      attachBearer(api, tokens, { dpop })
      const apiFetch = withBearer(fetch, tokens, { origins: [origin], dpop })
      equal((await api.post('/orders', { amount: 7 })).status, 200)
      await service('revokeAccessTokens')
      equal((await apiFetch(`${origin}/orders`, { method: 'POST', body: '7' })).status, 200)
      // The service rejects the first proof, which has no nonce.
      equal(await seen('token obtain'), 3)
    },
    { dpopNonces: true },
  )

  check('a login to an MCP server is kept: refreshed once, and revoked', async ({ startMcp }) => {
    const { serverUrl, issuer } = await startMcp()
    const provider = {
      clientMetadata: { redirect_uris: [] },
      clientInformation: () => ({ client_id: 'agent' }),
      saveCodeVerifier() {},
      codeVerifier: () => 'verifier',
      redirectToAuthorization() {},
    }
    const { transport, tokens, close } = mcpLogin({ serverUrl, provider, store: memoryStore() })
    const call = async () => (await transport.fetch(serverUrl, { method: 'POST', body: '{}' })).status
    equal(await call(), 401)
    // As an SDK does it at the end of a login.
    await transport.authProvider.saveTokens(await post(`${issuer}/first`))
    equal(await Promise.all([call(), call(), call()]), [200, 200, 200])
    await post(`${issuer}/expire`)
    equal(await Promise.all([call(), call(), call()]), [200, 200, 200])
    equal(await post(`${issuer}/refreshes`), [serverUrl])
    equal([(await tokens.logout()).revoked, await call()], [true, 401])
    await close()
  })

  check('a custom source', async () => {
    let issued = 0
    const source = {
      id: 'own',
      obtain: async () => ({ accessToken: `own-${(issued += 1)}`, accessLifetimeMs: 60_000 }),
    }
    const tokens = createTokenManager({ source })
    equal([await tokens.getAccessToken(), tokens.status().counts.obtains], ['own-1', 1])
  })

  check('the errors of fetch are understood', async ({ closed }) => {
    const thrown = await failure(fetch(closed))
    equal(toTokenError(thrown, 'obtain').code, 'ERR_TOKEN_SERVICE_UNAVAILABLE')
  })

  check('tokens of a login are adopted, and ERR_LOGIN_REQUIRED comes before', async () => {
    const source = {
      id: 'login',
      obtain: async () => {
        throw new TokenError('ERR_LOGIN_REQUIRED', 'log in')
      },
    }
    const tokens = createTokenManager({ source })
    equal((await failure(tokens.getAccessToken())).code, 'ERR_LOGIN_REQUIRED')
    await tokens.adopt({ accessToken: 'adopted', accessLifetimeMs: 60_000 })
    equal(await tokens.getAccessToken(), 'adopted')
  })

  check('all events are received', async ({ tokens }) => {
    const names = []
    tokens.onAny((name) => names.push(name))
    await tokens.getAccessToken()
    await turn()
    equal(names, ['renewed'])
  })

  check('errors can be distinguished and serialised', () => {
    const error = new TokenError('ERR_THROTTLED', 'slow down', { status: 429 })
    equal(
      [isTokenError(error, 'ERR_THROTTLED'), error instanceof TokenError, error instanceof Error],
      [true, true, true],
    )
    equal(JSON.parse(JSON.stringify(error)).message, 'slow down')
  })

  return checks
}

/** A service, and a manager attached to an instance. */
async function worldOn(origin, { variant = 'A', ...options } = {}) {
  const { id, baseUrl, client, login, tokenEndpoint } = await post(`${origin}/services`, options)
  const service = (method, ...args) => post(`${origin}/services/${id}/${method}`, args)
  const seen = async (kind) => service('count', kind.replace('token ', ''))
  const make = (instance = {}, manager = {}, source = {}) => {
    const where = { baseUrl, ...source }
    const made = variant === 'A' ? clientCredentials({ ...where, ...client }) : loginPassword({ ...where, ...login })
    const tokens = createTokenManager({ source: made, ...manager })
    const api = axios.create({ baseURL: baseUrl, ...instance })
    return { tokens, api, attachment: attachBearer(api, tokens) }
  }
  return {
    ...make(),
    make,
    service,
    seen,
    client,
    tokenEndpoint,
    elsewhere: origin,
    closed: 'http://127.0.0.1:1/',
    startMcp: () => post(`${origin}/mcp`),
  }
}

async function post(url, body) {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
  const { result, error } = await response.json()
  if (error !== undefined) throw new Error(error)
  return result
}

/** A register for one process. */
function registerInMemory() {
  const values = new Map()
  return {
    kind: 'memory',
    values,
    read: async (key) => ({ now: Date.now(), ...(values.has(key) && { value: values.get(key) }) }),
    replace: async (key, expected, value) => {
      if (values.get(key) !== expected) return false
      values.set(key, value)
      return true
    },
  }
}

async function failure(promise) {
  try {
    await promise
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

async function until(condition) {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50))
}

/** The manager emits an event in a later turn than the change. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0))

function equal(actual, expected) {
  const [is, should] = [actual, expected].map((value) => JSON.stringify(value))
  if (is !== should) throw new Error(`${is} is not ${should}`)
}

function differ(actual, other) {
  if (actual === other) throw new Error('they are the same')
}

function lacks(text, secret) {
  if (String(text).includes(secret)) throw new Error('a secret is shown')
}
