import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import axios, {
  type AxiosAdapter,
  type AxiosError,
  type AxiosInstance,
  type AxiosRequestConfig,
  AxiosHeaders,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios'
import { attachBearer } from '../../src/index.ts'
import { rejection, rejecting, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { settle } from '../support/watched-clock.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

const ADAPTERS = ['http', 'fetch'] as const

/** When a user interceptor runs: axios runs request interceptors in the reverse order of registration. */
const SIDES = ['registered before ours, which runs after it', 'registered after ours, which runs before it'] as const

function attachBeside(
  api: AxiosInstance,
  side: (typeof SIDES)[number],
  change: (c: InternalAxiosRequestConfig) => void,
) {
  const { tokens, minted, anomalies } = startTokens()
  const register = () =>
    api.interceptors.request.use((config) => {
      change(config)
      return config
    })
  if (side === SIDES[0]) register()
  attachBearer(api, tokens)
  if (side === SIDES[1]) register()
  return { minted, anomalies }
}

const CASES = ADAPTERS.flatMap((adapter) => SIDES.map((side) => [adapter, side] as const))

describe.each(CASES)('given (%s adapter) an interceptor %s', (adapter, side) => {
  it('when it rewrites the url to another origin, then no token is sent (F105)', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted } = attachBeside(api, side, (config) => (config.url = `${other.baseUrl}/stolen`))
    await api.get('/wallet')
    expect([server.bearers, other.bearers, minted.calls]).toEqual([[], [undefined], 0])
  })

  it('when it rewrites the baseURL to another origin, then no token is sent (F105)', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted } = attachBeside(api, side, (config) => (config.baseURL = other.baseUrl))
    await api.get('/wallet')
    expect([server.bearers, other.bearers, minted.calls]).toEqual([[], [undefined], 0])
  })

  it('when it puts user information into the baseURL, then that is sent instead of a token', async () => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted } = attachBeside(api, side, (config) => (config.baseURL = `http://u:p@127.0.0.1:${server.port}`))
    await api.get('/wallet')
    expect([server.bearers, minted.calls]).toEqual([['Basic dTpw'], 0])
  })

  it('when it rewrites a foreign url to an allowed origin, then the token is sent', async () => {
    const [server, other] = [await startApi(), await startApi()]
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBeside(api, side, (config) => (config.url = '/home'))
    await api.get(`${other.baseUrl}/away`)
    expect([server.bearers, other.bearers]).toEqual([['Bearer token-1'], []])
  })

  it('when it sets evergreen: false, then no token is requested, and a 401 surfaces', async () => {
    const server = await startApi(() => rejection)
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted, anomalies } = attachBeside(api, side, (config) => (config.evergreen = false))
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    expect([server.bearers, minted.calls, anomalies]).toEqual([[undefined], 0, []])
  })

  it('when it sets auth, then that is sent instead, and a 401 surfaces', async () => {
    const server = await startApi(() => rejection)
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted } = attachBeside(api, side, (config) => (config.auth = { username: 'u', password: 'p' }))
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    expect([server.bearers, minted.calls]).toEqual([['Basic dTpw'], 0])
  })

  it('when it sets the header, then that is sent instead, and a 401 surfaces', async () => {
    const server = await startApi(() => rejection)
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { minted, anomalies } = attachBeside(api, side, ({ headers }) => headers.set('authorization', 'Own 1'))
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    expect([server.bearers, minted.calls, anomalies]).toEqual([['Own 1'], 0, []])
  })

  it('when it returns a copy of the config, then the token is sent, and the copy keeps none of it', async () => {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { tokens } = startTokens()
    const copy = (config: InternalAxiosRequestConfig) => ({ ...config, headers: new AxiosHeaders(config.headers) })
    if (side === SIDES[0]) api.interceptors.request.use(copy)
    attachBearer(api, tokens)
    if (side === SIDES[1]) api.interceptors.request.use(copy)
    const { config } = await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect([config.headers.has('Authorization'), config.adapter]).toEqual([false, adapter])
  })
})

describe.each(SIDES)('given an interceptor %s', (side) => {
  it('when it sets a socketPath, then no token goes to that socket', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evergreen-'))
    const socketPath = join(folder, 'api.sock')
    try {
      const [server, local] = [await startApi(), await startApi(() => rejection, socketPath)]
      const api = axios.create({ adapter: 'http', baseURL: server.baseUrl })
      const { minted } = attachBeside(api, side, (config) => (config.socketPath = socketPath))
      expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
      expect([server.bearers, local.bearers, minted.calls]).toEqual([[], [undefined], 0])
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('when it throws, then its error surfaces and nothing is sent', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    const reason = new Error('not today')
    attachBeside(api, side, () => {
      throw reason
    })
    expect(await failureOf(api.get('/'))).toBe(reason)
    expect(server.received).toHaveLength(0)
  })
})

describe.each(ADAPTERS)('given an attachment (%s adapter)', (adapter) => {
  it.each([
    ['its own header', { headers: { Authorization: 'Own 1' } }, 'Own 1'],
    ['the header in lower case', { headers: { authorization: 'Own 1' } }, 'Own 1'],
    ['an empty header', { headers: { Authorization: '' } }, ''],
    ['the header switched off', { headers: { Authorization: false } }, undefined],
    ['auth', { auth: { username: 'u', password: 'p' } }, 'Basic dTpw'],
    ['evergreen: false', { evergreen: false }, undefined],
  ])('when a request has %s, then the library leaves it alone, even on a 401 (F108)', async (_, options, sent) => {
    const server = await startApi(() => rejection)
    const { tokens, minted, anomalies } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const error = await failureOf<AxiosError>(api.get('/', options))
    expect(error.response?.data).toEqual({ error: 'refused' })
    expect(server.bearers).toEqual([sent])
    expect([minted.calls, anomalies]).toEqual([0, []])
    expect(error.config?.adapter).toBe(adapter)
  })

  it('when an instance has evergreen: false by default, then a single request can still enable the token', async () => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl, evergreen: false })
    attachBearer(api, startTokens().tokens)
    await api.get('/1')
    await api.get('/2', { evergreen: true })
    expect(server.bearers).toEqual([undefined, 'Bearer token-1'])
  })

  it('when a url contains a user and a password, then those are sent, without a token or a replay', async () => {
    const server = await startApi(() => rejection)
    const { tokens, minted, anomalies } = startTokens()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const url = `http://canary-user:canary-pass@127.0.0.1:${server.port}/`
    expect(await failureOf(api.get(url))).toMatchObject({ status: 401 })
    expect(server.bearers).toEqual([`Basic ${Buffer.from('canary-user:canary-pass').toString('base64')}`])
    expect(minted.calls).toBe(0)
    expect(JSON.stringify(anomalies)).not.toContain('canary')
  })

  it('when the token has another header name and a request has its own Authorization, then both are sent', async () => {
    const server = await startApi()
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { header: 'X-Token' })
    await api.get('/', { headers: { Authorization: 'Own 1' } })
    expect(server.received.map(({ headers }) => [headers['x-token'], headers.authorization])).toEqual([
      ['Bearer token-1', 'Own 1'],
    ])
  })

  it.each([
    ['a name', adapter],
    ['a list of names', ['xhr', adapter]],
  ])('when the adapter is %s, then responses and errors hold it again, and no token', async (_, original) => {
    const server = await startApi(({ url }) => (url === '/good' ? {} : { status: 500 }))
    const api = axios.create({ adapter: original as 'http', baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    const { config } = await api.get('/good')
    const { config: failed, response } = await failureOf<AxiosError>(api.get('/bad'))
    for (const held of [config, failed!, response!.config]) {
      expect(held.adapter).toEqual(original)
      expect(held.headers.has('Authorization')).toBe(false)
    }
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-1'])
  })
})

describe('given an instance with a custom adapter function, such as that of a mock library', () => {
  it('when requests succeed, fail and are replayed, then each call has one token, and the config is clean again', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess(({ authorization, url }) =>
      url === '/bad' ? 500 : authorization === 'Bearer token-1' ? 401 : 200,
    )
    const api = axios.create({ baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    api.defaults.adapter = adapter // mock libraries also set it after attaching
    const { config } = await api.get('/good')
    const error = await failureOf<AxiosError>(api.get('/bad'))
    for (const held of [config, error.config!, error.response!.config]) {
      expect(held.adapter).toBe(adapter)
      expect(held.headers.has('Authorization')).toBe(false)
    }
    expect(calls.map(({ authorization, url }) => [url, authorization])).toEqual([
      ['/good', 'Bearer token-1'],
      ['/good', 'Bearer token-2'],
      ['/bad', 'Bearer token-2'],
    ])
    expect(calls.map((call) => call.config.adapter)).toEqual([adapter, adapter, adapter])
  })

  it('when a single request selects it, then it sends that request', async () => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter: 'http', baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens)
    await api.get('/', { adapter })
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1'])
  })

  it('when the config of a failed request is sent again by hand, then it carries the current token', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess((_, index) => (index === 0 ? 500 : 200))
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const { config } = await failureOf<AxiosError>(api.get('/'))
    await tokens.renew()
    const answer = await api.request(config!)
    expect(answer.config.adapter).toBe(adapter)
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('when the config of a request that was cancelled before sending is sent again, then wrappers do not nest', async () => {
    const { tokens } = startTokens()
    const { adapter, calls } = inProcess(() => 401)
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const cancelled = await failureOf<AxiosError>(api.get('/', { signal: AbortSignal.abort() }))
    expect(axios.isCancel(cancelled)).toBe(true)
    expect(calls).toHaveLength(0)
    const config = { ...cancelled.config! }
    delete config.signal
    const error = await failureOf<AxiosError>(api.request(config))
    expect(error.config?.adapter).toBe(adapter)
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it.each<[string, Partial<AxiosResponse>]>([
    ['no config', {}],
    ['an empty config', { config: {} as never }],
    ['a config with plain headers', { config: { headers: { Accept: '*/*' } } as never }],
    ['a null request', { request: null }],
  ])('when its response has %s, as in many test doubles, then that response is returned', async (_, members) => {
    const api = axios.create({
      adapter: async () => ({ data: '1', status: 200, statusText: 'OK', headers: {}, ...members }) as AxiosResponse,
      baseURL: 'https://api.example.com',
    })
    attachBearer(api, startTokens().tokens)
    expect((await api.get<number>('/')).data).toBe(1)
  })

  it.each<[string, unknown]>([
    ['an error without config', new Error('boom')],
    ['an error with an empty config', Object.assign(new Error('boom'), { config: {} })],
    ['an error with plain headers', Object.assign(new Error('boom'), { config: { headers: { Accept: '*/*' } } })],
    ['a response without config', { message: 'boom', response: { status: 500, data: '', headers: {} } }],
    ['a response with an empty config', { message: 'boom', response: { status: 500, headers: {}, config: {} } }],
    ['a frozen error', Object.freeze(Object.assign(new Error('boom'), { request: {} }))],
    ['a string', 'boom'],
    ['null', null],
    ['undefined', undefined],
  ])(
    'when it rejects with %s, then the request rejects with that value, and no config keeps the token',
    async (_, thrown) => {
      const sent: unknown[] = []
      const adapter: AxiosAdapter = ({ headers }) => {
        sent.push(headers.get('Authorization'))
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- adapters may reject with anything
        return Promise.reject(thrown)
      }
      const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
      let kept: InternalAxiosRequestConfig | undefined
      api.interceptors.request.use((config) => (kept = config))
      attachBearer(api, startTokens().tokens)
      const caught: unknown = await api.get('/').catch((error: unknown) => error)
      expect(caught).toBe(thrown)
      expect([sent, kept?.headers.has('Authorization')]).toEqual([['Bearer token-1'], false])
    },
  )

  it('when its response holds a plain copy of the config, then the token is removed from the copy too', async () => {
    const copying: AxiosAdapter = async (config) => ({
      data: '1',
      status: 200,
      statusText: 'OK',
      headers: {},
      config: { ...config, headers: config.headers.toJSON() as never },
    })
    const api = axios.create({ adapter: copying, baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens)
    const { config } = await api.get('/')
    expect(JSON.stringify(config.headers)).not.toContain('token-1')
  })

  it('when it throws instead of rejecting, then the request rejects with that error, with or without a token', async () => {
    const reason = new Error('boom')
    const adapter: AxiosAdapter = () => {
      throw reason
    }
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens)
    expect(await failureOf(api.get('/'))).toBe(reason)
    expect(await failureOf(api.get('/', { evergreen: false }))).toBe(reason)
  })

  it('when an interceptor that runs after ours wraps the adapter, then both wrappers work', async () => {
    const { adapter, calls } = inProcess((_, index) => (index === 0 ? 401 : 200))
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    let outer = 0
    api.interceptors.request.use((config) => {
      const inner = config.adapter as AxiosAdapter
      config.adapter = (final) => {
        outer += 1
        return inner(final)
      }
      return config
    })
    attachBearer(api, startTokens().tokens)
    await api.get('/')
    expect(outer).toBe(1)
    expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it.each(['given', 'copied'])(
    'when an interceptor that runs after ours wraps the adapter of the %s config and calls ours, then the token is sent once (F160)',
    async (which) => {
      const { adapter, calls } = inProcess((_, index) => (index === 0 ? 401 : 200))
      const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
      const { tokens, anomalies, minted } = startTokens()
      api.interceptors.request.use((config) => {
        const inner = config.adapter as AxiosAdapter
        const outer: AxiosAdapter = async (final) => inner(final)
        return which === 'given' ? Object.assign(config, { adapter: outer }) : { ...config, adapter: outer }
      })
      attachBearer(api, tokens)
      const { config } = await api.get('/')
      await settle()
      expect(calls.map(({ authorization }) => authorization)).toEqual(['Bearer token-1', 'Bearer token-2'])
      expect([minted.calls, anomalies, config.headers.has('Authorization')]).toEqual([2, [], false])
    },
  )

  it('when the instance has no adapter, then the default adapter of axios is used', async () => {
    const server = await startApi()
    const api = axios.create({ baseURL: server.baseUrl })
    delete api.defaults.adapter
    attachBearer(api, startTokens().tokens)
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer token-1'])
  })

  it.each([
    ['unknown', "Unknown adapter 'nonsense'"],
    ['not of this environment', 'adapter xhr is not supported'],
  ])('when the adapter is %s, then axios throws the same error as without this package', async (which, message) => {
    const { tokens, minted } = startTokens()
    const api = axios.create({ adapter: which === 'unknown' ? 'nonsense' : 'xhr', baseURL: 'https://api.example.com' })
    const bare = await failureOf(api.get('/'))
    attachBearer(api, tokens)
    const error = await failureOf(api.get('/'))
    expect(error.message).toBe(bare.message)
    expect(error.message).toContain(message)
    expect(minted.calls).toBe(0)
  })
})

const SETTERS = ['a custom adapter', 'the name fetch', 'a list of names'] as const

describe.each(SETTERS)('given an earlier interceptor that sets %s', (which) => {
  async function attachedAfter(
    set: (config: InternalAxiosRequestConfig, adapter: never) => InternalAxiosRequestConfig,
  ) {
    const { adapter, calls } = inProcess(({ authorization }) => (authorization === 'Bearer token-1' ? 401 : 200))
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter: 'http', baseURL: server.baseUrl })
    const world = startTokens()
    const chosen = which === SETTERS[0] ? adapter : which === SETTERS[1] ? 'fetch' : ['xhr', 'fetch']
    api.interceptors.request.use((config) => set(config, chosen as never))
    attachBearer(api, world.tokens)
    const bearers = () => (which === SETTERS[0] ? calls.map(({ authorization }) => authorization) : server.bearers)
    return { ...world, api, chosen, bearers }
  }
  const setting = attachedAfter.bind(undefined, (config, adapter) => Object.assign(config, { adapter }))

  it('when a request starts, then that adapter sends it with the token, and replays it if the token is rejected (F160)', async () => {
    const { api, chosen, bearers, anomalies } = await setting()
    const { transformRequest } = api.defaults
    const { config } = await api.post('/', { a: 1 })
    await settle()
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect([config.adapter, config.headers.has('Authorization'), anomalies]).toEqual([chosen, false, []])
    expect([config.transformRequest, config.data]).toEqual([transformRequest, '{"a":1}'])
  })

  it('when the config of a failed request is sent again, cancelled before or not, then no wrapper nests (F160)', async () => {
    const { api, chosen, bearers } = await setting()
    const cancelled = await failureOf<AxiosError>(api.get('/', { signal: AbortSignal.abort() }))
    const again = { ...cancelled.config! }
    delete again.signal
    const { config } = await api.request(again)
    const last = await api.request(config)
    expect([last.config.adapter, last.config.transformRequest]).toEqual([chosen, api.defaults.transformRequest])
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
  })

  it('when it does so on a copy of the config, then the request is sent without a token, and an anomaly says what to do (F160)', async () => {
    const { api, chosen, bearers, anomalies, minted } = await attachedAfter((config, adapter) => ({
      ...config,
      adapter,
    }))
    const { config } = await api.get('/')
    await settle()
    expect([bearers(), minted.calls, config.adapter]).toEqual([[undefined], 0, chosen])
    const message = expect.stringMatching(/Register that interceptor after attachBearer/) as unknown
    expect(anomalies).toEqual([{ kind: 'adapter-replaced', message }])
  })

  it.each<[string, AxiosRequestConfig]>([
    ['has evergreen: false', { evergreen: false }],
    ['has the header', { headers: { Authorization: 'Own 1' } }],
    ['has auth', { auth: { username: 'u', password: 'p' } }],
  ])('when a request %s, and its config is copied, then no anomaly is reported (F160)', async (_, options) => {
    const { api, anomalies } = await attachedAfter((config, adapter) => ({ ...config, adapter }))
    await api.get('/', options)
    await settle()
    expect(anomalies).toEqual([])
  })
})

describe('given an earlier interceptor that does not change the adapter', () => {
  it.each<[string, AxiosRequestConfig['transformRequest'] | null]>([
    ['a function', (data) => String(data)],
    ['a list', [(data) => String(data)]],
    ['an empty list', []],
  ])(
    'when transformRequest is %s, then it runs once, and the config shows the original value (F160)',
    async (_, transform) => {
      const { adapter } = inProcess()
      const api = axios.create({ adapter, baseURL: 'https://api.example.com', transformRequest: transform! })
      api.interceptors.request.use((config) => config)
      attachBearer(api, startTokens().tokens)
      const { config } = await api.post('/', 'x')
      expect([config.transformRequest].flat()).toEqual([transform].flat())
      expect(config.data).toBe('x')
    },
  )
})
