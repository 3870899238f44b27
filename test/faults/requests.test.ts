import { describe, expect, it } from '@jest/globals'
import axios, {
  type AxiosError,
  type AxiosInstance,
  type AxiosRequestConfig,
  type InternalAxiosRequestConfig,
} from 'axios'
import { attachBearer } from '../../src/index.ts'
import { type ApiServer, rejection, rejecting, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf } from '../axios/support/turns.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

const ADAPTERS = ['http', 'fetch'] as const

function authorizations({ received }: ApiServer): (string | undefined)[] {
  return received.flatMap(({ rawHeaders }) =>
    rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'authorization'),
  )
}

/** @returns All that a request may leave on its config: names, symbols, adapter and headers. */
function traces(config: InternalAxiosRequestConfig) {
  return { keys: Reflect.ownKeys(config), adapter: config.adapter, headers: config.headers.toJSON() }
}

describe.each(ADAPTERS)('given a request that is replayed (%s adapter)', (adapter) => {
  it('when its config is deeply frozen, then it is sent twice with one token each, and unchanged (F112)', async () => {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    let ran = 0
    api.interceptors.request.use((config) => {
      ran += 1
      config.headers.set('X-Count', String(ran))
      return config
    })
    attachBearer(api, startTokens().tokens)
    const options: AxiosRequestConfig = Object.freeze({
      headers: Object.freeze({ 'X-Own': 'yes' }),
      params: Object.freeze({ page: 2 }),
      data: Object.freeze({ amount: 1 }),
    })
    const before = JSON.stringify(options)
    expect((await api.request({ ...options, method: 'post', url: '/payments' })).status).toBe(200)
    expect((await api.post('/payments', options.data, options)).status).toBe(200)
    expect(JSON.stringify(options)).toBe(before)
    expect(authorizations(server)).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-2'])
    const sent = server.received.map(({ url, headers, body }) => [
      url,
      headers['x-own'],
      headers['x-count'],
      String(body),
    ])
    expect(sent).toEqual(['1', '1', '2'].map((count) => ['/payments?page=2', 'yes', count, '{"amount":1}']))
  })

  it('when a user interceptor has frozen it, then it is sent twice anyway (F112)', async () => {
    const server = await startApi(rejecting('token-1'))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    api.interceptors.request.use((config) => Object.freeze({ ...config }), undefined, { synchronous: true })
    expect((await api.get('/wallet')).status).toBe(200)
    expect(authorizations(server)).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it('when it has ended, then its config shows no trace of this package, in a response or in an error (F118)', async () => {
    const server = await startApi((request, index) =>
      request.url === '/refused' ? rejection : rejecting('token-1')(request, index),
    )
    const options = () => ({ cancelToken: axios.CancelToken.source().token, signal: new AbortController().signal })
    const bare = axios.create({ adapter, baseURL: server.baseUrl })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    const [plain, answer] = [await bare.get('/', options()), await api.get('/', options())]
    const [failed, error] = await Promise.all(
      [bare, api].map((one) => failureOf<AxiosError>(one.get('/refused', options()))),
    )
    expect(authorizations(server).length).toBeGreaterThan(2)
    expect(traces(answer.config)).toEqual(traces(plain.config))
    expect(traces(error!.config!)).toEqual(traces(failed!.config!))
    expect(traces(error!.response!.config)).toEqual(traces(failed!.response!.config))
  })
})

/** The axios types lack `create` of an instance. */
const childOf = (api: AxiosInstance, config: object = {}) =>
  (api as unknown as { create(config: object): AxiosInstance }).create(config)
/** Ways to send the config of a failed request again. Merging and JSON lose symbols, and everything that is not plain data. */
const AGAIN: [string, (config: InternalAxiosRequestConfig) => AxiosRequestConfig][] = [
  ['as it is', (config) => config],
  ['in a copy', (config) => ({ ...config })],
  ['merged by axios', (config) => axios.mergeConfig({ timeout: 1_000 }, config)],
  [
    'through JSON',
    ({ url, baseURL, method, data, headers }) =>
      JSON.parse(JSON.stringify({ url, baseURL, method, data: data as unknown, headers })) as AxiosRequestConfig,
  ],
]

describe.each(ADAPTERS)('given an API that rejects every token (%s adapter)', (adapter) => {
  async function world() {
    const clock = manualClock()
    const server = await startApi(() => rejection)
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { tokens, minted } = startTokens({ clock })
    attachBearer(api, tokens)
    return { clock, server, api, tokens, minted }
  }

  it.each(['before', 'after'])(
    'when an interceptor registered %s ours merges configs with axios, then there is one replay (F118)',
    async (side) => {
      const server = await startApi(() => rejection)
      const api = axios.create({ adapter, baseURL: server.baseUrl })
      const { tokens, minted } = startTokens()
      const merge = (config: InternalAxiosRequestConfig) =>
        axios.mergeConfig({ timeout: 1_000 }, config) as InternalAxiosRequestConfig
      if (side === 'before') api.interceptors.request.use(merge)
      attachBearer(api, tokens)
      if (side === 'after') api.interceptors.request.use(merge)
      const { config } = await failureOf<AxiosError>(api.get('/'))
      expect(authorizations(server)).toEqual(['Bearer token-1', 'Bearer token-2'])
      expect([minted.calls, config!.adapter, config!.headers.has('Authorization')]).toEqual([2, adapter, false])
    },
  )

  it.each(AGAIN)(
    'when the config of a failed request is sent again %s, by parent, clone and clone of clone, then each replays once (F118)',
    async (_, again) => {
      const { clock, server, api, tokens, minted } = await world()
      const clones = [api, childOf(api), childOf(childOf(api), { cancelToken: axios.CancelToken.source().token })]
      for (const clone of clones) attachBearer(clone, tokens)
      let config: AxiosRequestConfig = { url: '/wallet', method: 'post', data: 'text' }
      for (const clone of clones) {
        const error = await failureOf<AxiosError>(clone.request(config))
        expect([error.status, error.config!.adapter]).toEqual([401, adapter])
        config = again(error.config!)
        await clock.advance(6_000) // the gap between forced renewals
      }
      const bearers = [1, 2, 2, 3, 3, 4].map((n) => `Bearer token-${n}`)
      expect(authorizations(server)).toEqual(bearers)
      expect(server.received.map(({ body }) => String(body))).toEqual(Array(6).fill('text'))
      expect(minted.calls).toBe(4)
    },
  )
})
