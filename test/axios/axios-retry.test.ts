import { readFileSync } from 'node:fs'
import { describe, expect, it, jest } from '@jest/globals'
import axios, { type AxiosAdapter, type AxiosError, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'
import axiosRetry, { exponentialDelay } from 'axios-retry'
import { attachBearer, clientCredentials, isTokenError, tokenErrorIn } from '../../src/index.ts'
import { startLogins } from '../client/support/logins.ts'
import { startTokenService } from '../../tools/testing/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { rejection, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { managerOf, startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

type Original = InternalAxiosRequestConfig['adapter']

// Responds to each test that uses it with three 503s, then with two 401s.
const own = inProcess((_, index) => (index % 5 < 3 ? 503 : 401))
const ADAPTERS: [string, Original][] = [
  ['the name http', 'http'],
  ['the name fetch', 'fetch'],
  ['a list of names', ['xhr', 'http', 'fetch']],
  ['a list of one', ['fetch']],
  ['a function', own.adapter],
]
const ORDERS = ['axios-retry first', 'attachBearer first'] as const
const CASES = ADAPTERS.flatMap(([name, adapter]) => ORDERS.map((order) => [name, order, adapter] as const))

describe.each(CASES)('given an instance whose adapter is %s (%s)', (_, order, adapter) => {
  it('axios-retry on top, three 503s and then 401s: no wrapper nests, no failed request keeps a token (F104)', async () => {
    const clock = manualClock()
    const server = await startApi((_request, index) => (index < 3 ? { status: 503 } : rejection))
    const { tokens, minted } = startTokens({ clock })
    const api = axios.create({ adapter: adapter as 'http', baseURL: server.baseUrl })
    const failures: { status: number | undefined; adapters: Original[]; tokenLeft: boolean }[] = []
    const note = ({ status, config, response }: AxiosError) => {
      const held = [config!, response!.config]
      const tokenLeft = held.some(({ headers }) => headers.has('Authorization'))
      failures.push({ status, adapters: held.map((one) => one.adapter), tokenLeft })
    }
    const addRetry = () =>
      axiosRetry(api, {
        retries: 3,
        retryDelay: () => 0,
        onRetry: async (count, error) => {
          note(error)
          // Each retry must send the current token, not the token of the previous attempt.
          if (count < 3) await tokens.renew()
        },
      })
    if (order === ORDERS[0]) addRetry()
    attachBearer(api, tokens)
    if (order === ORDERS[1]) addRetry()
    const before = own.calls.length
    const last = await failureOf<AxiosError>(api.put('/orders', { a: 1 }))
    note(last)
    const sent =
      typeof adapter === 'function'
        ? own.calls.slice(before).map(({ authorization, config }) => [authorization, String(config.data)])
        : server.received.map(({ headers, body }) => [headers.authorization, body.toString()])
    // axios-retry makes four attempts. The last one is replayed once.
    expect(sent).toEqual([
      ['Bearer token-1', '{"a":1}'],
      ['Bearer token-2', '{"a":1}'],
      ['Bearer token-3', '{"a":1}'],
      ['Bearer token-3', '{"a":1}'],
      ['Bearer token-4', '{"a":1}'],
    ])
    expect(last).toMatchObject({ status: 401 })
    expect(minted.calls).toBe(4)
    expect(failures).toEqual(
      [503, 503, 503, 401].map((status) => ({ status, adapters: [adapter, adapter], tokenLeft: false })),
    )
  })
})

describe.each(['http', 'fetch'] as const)('given axios-retry on an attached instance (%s adapter)', (adapter) => {
  it('when it retries 401s as well, then each of its attempts is replayed at most once, and the request ends (F104)', async () => {
    const clock = manualClock()
    const server = await startApi(() => rejection)
    const { tokens, minted } = startTokens({ clock })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    axiosRetry(api, { retries: 2, retryDelay: () => 0, retryCondition: () => true })
    expect(await failureOf(api.get('/'))).toMatchObject({ status: 401 })
    // The first attempt is replayed. The gap between forced renewals prevents more replays.
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2', 'Bearer token-2'])
    expect(minted.calls).toBe(2)
  })

  it('when the connection breaks, then the retry carries the token again', async () => {
    const service = await startTokenService()
    try {
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      axiosRetry(api, { retries: 2, retryDelay: () => 0, retryCondition: (error) => error.response === undefined })
      service.failNext('resource', { drop: 'before' }, 2)
      expect((await api.get('/orders')).status).toBe(200)
      expect(service.count('obtain')).toBe(1)
    } finally {
      await service.close()
    }
  })

  it('when the token failure is permanent, then it does not retry the TokenError (F161)', async () => {
    const service = await startTokenService()
    try {
      service.failNext('obtain', { status: 400 })
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client })))
      let retries = 0
      axiosRetry(api, {
        retries: 3,
        retryDelay: () => 0,
        retryCondition: () => true,
        onRetry: () => void (retries += 1),
      })
      expect(await failureOf(api.get('/'))).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
      expect(await failureOf(api.get('/', { 'axios-retry': { retries: 9 } }))).toMatchObject({ retryable: false })
      expect(retries).toBe(0)
      expect([service.count('obtain'), service.count('resource')]).toEqual([1, 0])
    } finally {
      await service.close()
    }
  })

  it('when such a request is sent again by hand later, then it is retried like any other request (F161)', async () => {
    const service = await startTokenService()
    const clock = manualClock()
    try {
      service.failNext('obtain', { status: 400 })
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      attachBearer(api, managerOf(clientCredentials({ baseUrl: service.baseUrl, ...service.client }), { clock }))
      axiosRetry(api, { retries: 2, retryDelay: () => 0 })
      const { config } = await failureOf<AxiosError>(api.get('/'))
      await clock.advance(60_000)
      service.failNext('resource', { status: 503 }, 2)
      expect((await api.request(config!)).status).toBe(200)
      expect(service.count('resource')).toBe(3)
    } finally {
      await service.close()
    }
  })

  it.each(ORDERS)('when the token failure is temporary (%s), then it sends the request again (F161)', async (order) => {
    const service = await startTokenService()
    const clock = manualClock()
    try {
      service.failNext('obtain', { status: 503 })
      const api = axios.create({ adapter, baseURL: service.baseUrl })
      const source = clientCredentials({ baseUrl: service.baseUrl, ...service.client })
      const attach = () => attachBearer(api, managerOf(source, { clock, retry: { maxAttempts: 1 } }))
      if (order === ORDERS[1]) attach()
      axiosRetry(api, { retries: 1, retryDelay: () => 0, onRetry: () => clock.advance(10_000) })
      if (order === ORDERS[0]) attach()
      expect((await api.get('/')).status).toBe(200)
      expect([service.count('obtain'), service.count('resource')]).toEqual([2, 1])
    } finally {
      await service.close()
    }
  })

  it('when it validates responses itself, then a 401 is replayed anyway', async () => {
    const server = await startApi((_request, index) => (index === 0 ? rejection : {}))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    axiosRetry(api, { validateResponse: ({ status }) => status === 200 })
    expect((await api.get('/')).status).toBe(200)
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
  })
})

describe.each(['axios-retry', 'a user interceptor'])('given %s, which sends requests again', (library) => {
  /** @param meanwhile Runs before a request is sent again. */
  const retrying = (api: AxiosInstance, meanwhile: () => void) => {
    if (library === 'axios-retry') axiosRetry(api, { retries: 1, retryDelay: () => 0, onRetry: meanwhile })
    else
      api.interceptors.response.use(undefined, (error: AxiosError) => {
        if (error.response === undefined) throw error
        meanwhile()
        return api.request(error.config!)
      })
  }

  it('when another user logs in before the retry, then the retry is a new request of the new login (F209)', async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const server = await startApi((_request, index) => (index === 0 ? { status: 503 } : {}))
    const api = axios.create({ baseURL: server.baseUrl, proxy: false })
    attachBearer(api, logins.tokens)
    retrying(api, () => logins.logIn('BOB'))
    await api.get('/')
    expect(server.bearers).toEqual(['Bearer ALICE', 'Bearer BOB'])
  })

  it('when the request is aborted at the logout, then it is not sent as another user (F209)', async () => {
    const logins = startLogins()
    logins.logIn('ALICE')
    const server = await startApi((_request, index) => (index === 0 ? { status: 503 } : {}))
    const api = axios.create({ baseURL: server.baseUrl, proxy: false })
    attachBearer(api, logins.tokens)
    const ofAlice = new AbortController()
    retrying(api, () => {
      ofAlice.abort()
      logins.logOut()
      logins.logIn('BOB')
    })
    expect(axios.isCancel(await failureOf(api.get('/', { signal: ofAlice.signal })))).toBe(true)
    expect(server.bearers).toEqual(['Bearer ALICE'])
  })
})

describe('given the axios-retry delays in docs/migrating.md', () => {
  it('when no token is available until later, then the request is sent again at retryAt, and after a 503 with the usual delay (F161)', async () => {
    const service = await startTokenService()
    const clock = manualClock()
    jest.spyOn(Date, 'now').mockImplementation(() => clock.wallNow())
    try {
      service.failNext('obtain', { status: 503 })
      service.failNext('resource', { status: 503 })
      const api = axios.create({ baseURL: service.baseUrl })
      const source = clientCredentials({ baseUrl: service.baseUrl, ...service.client })
      attachBearer(api, managerOf(source, { clock, retry: { maxAttempts: 1 } }))
      const delays: number[] = []
      const reported: unknown[] = []
      axiosRetry(api, {
        retries: 2,
        retryDelay(count, error) {
          delays.push(documentedDelay()(count, error))
          reported.push(isTokenError(error) ? error.retryAt : error.status)
          return 0
        },
        onRetry: () => clock.advance(delays.at(-1)!),
      })
      const startedAt = clock.wallNow()
      expect((await api.get('/')).status).toBe(200)
      expect([delays[0], reported]).toEqual([(reported[0] as number) - startedAt, [expect.any(Number), 503]])
      expect(delays[0]).toBeGreaterThan(1_000)
      expect([service.count('obtain'), service.count('resource')]).toEqual([2, 2])
    } finally {
      await service.close()
    }
  })
})

/** @returns The `retryDelay` of that page. */
function documentedDelay(): (count: number, error: AxiosError) => number {
  const [, code] = /axiosRetry\(api, \{.*?retryDelay(\(.*?\n {2}\}),\n\}\)/s.exec(
    readFileSync('docs/migrating.md', 'utf8'),
  )!
  type Make = (...given: unknown[]) => (count: number, error: AxiosError) => number
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the code of our own page
  const make = new Function('tokenErrorIn', 'exponentialDelay', `return function ${code}`) as Make
  return make(tokenErrorIn, exponentialDelay)
}

describe('given a manual retry in a response interceptor, as users wrote it before', () => {
  it('when it sends error.config again, then the current token is sent, and wrappers do not nest', async () => {
    const { adapter, calls } = inProcess((_, index) => (index < 4 ? 503 : 200))
    const { tokens } = startTokens()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, tokens)
    const adapters: unknown[] = []
    api.interceptors.response.use(undefined, (error: AxiosError) => {
      adapters.push(error.config?.adapter)
      return api.request(error.config!)
    })
    const { config } = await api.get('/')
    adapters.push(config.adapter)
    expect(adapters).toEqual(Array<AxiosAdapter>(5).fill(adapter))
    expect(calls.map(({ authorization }) => authorization)).toEqual(Array(5).fill('Bearer token-1'))
  })
})
