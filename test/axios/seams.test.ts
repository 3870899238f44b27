import { describe, expect, it } from '@jest/globals'
import axios, { getAdapter, type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios'
import { startApi } from './support/api-server.ts'

/**
 * What `src/axios` relies on in axios without a promise in its types or docs: all of it, and the files that rely on it. Each is tested without this
 * package, so a new axios that changes one of them fails here by name, before it fails elsewhere by an effect.
 */
const SEAMS = {
  adapter: 'config.adapter may be a function, set by an interceptor (attachments.ts)',
  handlers: 'interceptors.request.handlers lists the interceptors (attachments.ts)',
  getAdapter: 'getAdapter(adapter, config) chooses by name, by list and by env (adapter-beneath.ts)',
  env: 'config.env has the fetch, Request and Response of the fetch adapter (redirects.ts)',
  transforms: 'the adapter runs after transformRequest and before transformResponse (bearer-adapter.ts)',
  beforeRedirect: 'config.beforeRedirect is given href, method and headers of the next request (redirects.ts)',
  redirectable: 'request._redirectable and _currentRequest hold the headers of the first request, too (concealment.ts)',
} as const

type Choose = (adapter: unknown, config: object) => AxiosAdapter
const choose = getAdapter as unknown as Choose

/** An adapter without a network. @returns the adapter and its arguments */
function answering(): { adapter: AxiosAdapter; given: InternalAxiosRequestConfig[] } {
  const given: InternalAxiosRequestConfig[] = []
  const adapter: AxiosAdapter = async (config) => {
    given.push(config)
    return { status: 200, statusText: 'OK', headers: {}, config, data: '{"of":"adapter"}' }
  }
  return { adapter, given }
}

describe('given axios alone, with the behaviour on which this package relies', () => {
  it(`when a request is made, then ${SEAMS.adapter}`, async () => {
    const api = axios.create({ adapter: 'http', baseURL: 'http://127.0.0.1:9' })
    const { adapter, given } = answering()
    let changed: InternalAxiosRequestConfig | undefined
    api.interceptors.request.use((config) => {
      config.adapter = adapter
      return (changed = config)
    })
    const { data, config } = await api.get<unknown>('/a')
    expect(data).toEqual({ of: 'adapter' })
    expect(given).toHaveLength(1)
    expect([given[0], config]).toEqual([changed, changed])
    expect(given[0]).toBe(changed)
  })

  it(`when interceptors are added and removed, then ${SEAMS.handlers}`, () => {
    const { request } = axios.create().interceptors
    const [first, second] = [
      (config: InternalAxiosRequestConfig) => config,
      (config: InternalAxiosRequestConfig) => config,
    ]
    const id = request.use(first)
    request.use(second)
    expect(request.handlers!.map((one) => one.fulfilled)).toEqual([first, second])
    request.eject(id)
    const left = request.handlers as readonly ({ fulfilled: unknown } | null)[]
    expect(left.map((one) => one?.fulfilled)).not.toContain(first)
    request.clear()
    expect(request.handlers).toHaveLength(0)
  })

  it(`when an adapter is chosen, then ${SEAMS.getAdapter}`, () => {
    const { adapter } = answering()
    const env = { fetch, Request, Response }
    expect(choose(adapter, { env })).toBe(adapter)
    expect(choose([adapter], { env })).toBe(adapter)
    const http = choose('http', { env })
    expect(choose(['xhr', 'http', 'fetch'], { env })).toBe(http)
    expect(Reflect.get(http, 'adapterName')).toBe('http')
    expect(choose('fetch', { env })).toBe(choose('fetch', { env }))
    expect(choose('fetch', { env: { ...env, fetch: async () => new Response() } })).not.toBe(choose('fetch', { env }))
  })

  it(`when the fetch adapter runs, then ${SEAMS.env}`, async () => {
    const called: unknown[] = []
    const teller = async (request: unknown) => {
      called.push(request)
      return new Response('{"of":"env"}')
    }
    class Own extends Request {}
    // Part of the config, but not of the types.
    const given = { env: { fetch: teller, Request: Own, Response } } as object
    const api = axios.create({ adapter: 'fetch', baseURL: 'http://127.0.0.1:9', ...given })
    expect((await api.get('/a')).data).toEqual({ of: 'env' })
    expect(called).toEqual([expect.any(Own)])
  })

  it(`when a request is made, then ${SEAMS.transforms}`, async () => {
    const order: string[] = []
    const { adapter } = answering()
    const api = axios.create({
      adapter: (config) => {
        order.push(`adapter ${config.data}`)
        return adapter(config)
      },
      transformRequest: (data: string) => {
        order.push(`transformRequest ${data}`)
        return `changed ${data}`
      },
      transformResponse: (data: string) => order.push(`transformResponse ${data}`),
    })
    api.interceptors.request.use((config) => {
      order.push('interceptor')
      return config
    })
    await api.post('http://127.0.0.1:9/', 'a')
    expect(order).toEqual([
      'interceptor',
      'transformRequest a',
      'adapter changed a',
      'transformResponse {"of":"adapter"}',
    ])
  })

  it(`when the http adapter follows redirects, then ${SEAMS.beforeRedirect}`, async () => {
    const server = await startApi(({ url }) =>
      url === '/end' ? {} : { status: 303, headers: { Location: url === '/' ? '/next' : '/end' } },
    )
    const reported: unknown[] = []
    const api = axios.create({ adapter: 'http', baseURL: server.baseUrl, headers: { Authorization: 'Bearer a' } })
    const beforeRedirect = (redirect: Record<string, unknown>) => {
      const { href, method, headers } = redirect as { href: string; method: string; headers: Record<string, string> }
      reported.push([href, method, headers.Authorization])
      delete headers.Authorization
    }
    await api.post('/', 'a', { beforeRedirect })
    expect(reported).toEqual([
      [`${server.baseUrl}/next`, 'GET', 'Bearer a'],
      [`${server.baseUrl}/end`, 'GET', undefined],
    ])
    expect(server.bearers).toEqual(['Bearer a', undefined, undefined])
  })

  it(`when the http adapter has a response, then ${SEAMS.redirectable}`, async () => {
    const server = await startApi()
    const api = axios.create({ adapter: 'http', baseURL: server.baseUrl, headers: { Authorization: 'Bearer a' } })
    const { request }: { request?: unknown } = await api.get('/')
    expect(request).toHaveProperty('getHeader')
    expect(request).toHaveProperty('_redirectable._currentRequest', request)
    expect(request).toHaveProperty('_redirectable._options.headers.Authorization', 'Bearer a')
  })
})
