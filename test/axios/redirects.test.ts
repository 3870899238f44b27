import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosAdapter, type AxiosError, type AxiosRequestConfig } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { rejecting, type Script, startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'
import { failureOf } from './support/turns.ts'

const STATUSES = [301, 302, 303, 307, 308]
const CASES = (['http', 'fetch'] as const).flatMap((adapter) => STATUSES.map((status) => [adapter, status] as const))

/** Redirects these paths to their targets with `status`. */
function redirecting(status: number, targets: Record<string, string>): Script {
  return ({ url }) => {
    const location = targets[url]
    return location === undefined ? {} : { status, headers: { Location: location }, body: '' }
  }
}

describe.each(CASES)('given an API that responds (%s adapter) with %d', (adapter, status) => {
  it('when that leads to another origin, then the second request carries no token in any form (F42)', async () => {
    const other = await startApi()
    const server = await startApi(redirecting(status, { '/away': `${other.baseUrl}/there` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/away')).status).toBe(200)
    expect((await api.post('/away', 'body')).status).toBe(200)
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-1'])
    expect(other.received).toHaveLength(2)
    expect(JSON.stringify(other.received)).not.toContain('token-1')
  })

  it('when that leads to another path, then it is followed, and both requests carry the token (F43)', async () => {
    const server = await startApi(redirecting(status, { '/old': '/new' }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    const { tokens, minted } = startTokens()
    attachBearer(api, tokens)
    expect((await api.get('/old')).status).toBe(200)
    expect(server.received.map(({ url }) => url)).toEqual(['/old', '/new'])
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-1'])
    expect(minted.calls).toBe(1)
  })

  it('when that leads back by way of another origin, then the token is not sent again (F42)', async () => {
    const other = await startApi(({ url }) => ({ status, headers: { Location: `${server.baseUrl}/home${url}` } }))
    const server = await startApi(redirecting(status, { '/away': `${other.baseUrl}/back` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    await api.get('/away')
    expect(other.bearers).toEqual([undefined])
    expect(server.received.map(({ url }) => url)).toEqual(['/away', '/home/back'])
    expect(server.bearers).toEqual(['Bearer token-1', undefined])
  })

  it('when the token has another header name, then the redirect is not followed, and the caller gets the response (F43)', async () => {
    const other = await startApi()
    const server = await startApi(redirecting(status, { '/away': `${other.baseUrl}/there`, '/old': '/new' }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { header: 'X-Api-Token' })
    for (const path of ['/away', '/old']) {
      const error = await failureOf<AxiosError>(api.get(path))
      expect(error).toMatchObject({ name: 'AxiosError', status })
      expect(error.response?.headers.location).toBeDefined()
    }
    expect(server.received.map(({ headers }) => headers['x-api-token'])).toEqual(Array(2).fill('Bearer token-1'))
    expect(other.received).toEqual([])
  })

  it('when the request enables redirects with another header name, then they are still not followed, and its config is unchanged', async () => {
    const other = await startApi()
    const server = await startApi(redirecting(status, { '/away': `${other.baseUrl}/there` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { header: 'X-Api-Token' })
    const options: AxiosRequestConfig = { maxRedirects: 7, fetchOptions: { redirect: 'follow', keepalive: false } }
    const { config } = await failureOf<AxiosError>(api.get('/away', options))
    expect(other.received).toEqual([])
    expect(config).toMatchObject({ maxRedirects: 7, fetchOptions: { redirect: 'follow', keepalive: false } })
    expect(options).toEqual({ maxRedirects: 7, fetchOptions: { redirect: 'follow', keepalive: false } })
  })
})

describe.each(['http', 'fetch'] as const)('given redirects (%s adapter)', (adapter) => {
  it('when a replayed request is redirected to another origin, then that origin receives neither token (F42)', async () => {
    const other = await startApi()
    const server = await startApi((request, index) => {
      const answer = rejecting('token-1')(request, index) as { status?: number }
      return answer.status === 401 ? answer : { status: 307, headers: { Location: `${other.baseUrl}/there` } }
    })
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    await api.put('/', { a: 1 })
    expect(server.bearers).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(other.received.map(({ headers, body }) => [headers.authorization, body.toString()])).toEqual([
      [undefined, '{"a":1}'],
    ])
  })

  it('when a request without a token is redirected, then the redirect is followed, whatever the header name', async () => {
    const other = await startApi()
    const server = await startApi(redirecting(302, { '/away': `${other.baseUrl}/there` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { header: 'X-Api-Token' })
    expect((await api.get('/away', { evergreen: false })).status).toBe(200)
    expect(other.received).toHaveLength(1)
  })

  it('when the header name is authorization in another spelling, then redirects are followed without it', async () => {
    const other = await startApi()
    const server = await startApi(redirecting(302, { '/away': `${other.baseUrl}/there` }))
    const api = axios.create({ adapter, baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens, { header: 'AUTHORIZATION', scheme: '' })
    expect((await api.get('/away')).status).toBe(200)
    expect([server.bearers, other.bearers]).toEqual([['token-1'], [undefined]])
  })

  it('when validateStatus accepts a redirect with another header name, then its config is clean too', async () => {
    const server = await startApi(redirecting(302, { '/away': 'http://127.0.0.1:9/' }))
    const api = axios.create({ adapter, baseURL: server.baseUrl, validateStatus: () => true })
    attachBearer(api, startTokens().tokens, { header: 'X-Api-Token' })
    const { status, config } = await api.get('/away')
    expect(status).toBe(302)
    expect([config.maxRedirects, config.fetchOptions]).toEqual([undefined, undefined])
    expect(config.headers.has('X-Api-Token')).toBe(false)
  })
})

describe('given an adapter that reads the redirect settings in its config', () => {
  it.each([
    ['X-Api-Token', undefined, { maxRedirects: 0, redirect: 'manual' }],
    ['X-Api-Token', 'follow', { maxRedirects: 0, redirect: 'manual' }],
    ['Authorization', 'error', { maxRedirects: undefined, redirect: 'error' }],
    ['authorization', undefined, { maxRedirects: undefined, redirect: undefined }],
  ])('when the token is in %s and the request sets %p, then it reads %p', async (header, redirect, expected) => {
    const read: unknown[] = []
    const adapter: AxiosAdapter = async (config) => {
      const fetchOptions = config.fetchOptions as { redirect?: string } | undefined
      // Older axios reads `maxRedirects` in the http adapter, and `fetchOptions` in the fetch adapter.
      read.push({ maxRedirects: config.maxRedirects, redirect: fetchOptions?.redirect })
      return { data: '', status: 200, statusText: '', headers: {}, config }
    }
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens, { header })
    await api.get('/', redirect === undefined ? {} : { fetchOptions: { redirect } })
    expect(read).toEqual([expected])
  })
})

describe('given several names of one machine', () => {
  const lookup: NonNullable<AxiosRequestConfig['lookup']> = (_hostname, _options, found) => {
    ;(found as (error: null, address: string, family: number) => void)(null, '127.0.0.1', 4)
  }

  it.each(['sub.api.localhost', 'other.localhost', 'localhost', 'api.localhost.'])(
    'when api.localhost redirects to %s on the same port, then the token is not sent there (F42)',
    async (host) => {
      const server = await startApi(({ url }) =>
        url === '/away' ? { status: 302, headers: { Location: `http://${host}:${server.port}/there` } } : {},
      )
      const api = axios.create({ adapter: 'http', baseURL: `http://api.localhost:${server.port}`, lookup })
      attachBearer(api, startTokens().tokens, { allowInsecureHttp: true })
      await api.get('/away')
      expect(server.received.map(({ url, headers }) => [url, headers.host, headers.authorization])).toEqual([
        ['/away', `api.localhost:${server.port}`, 'Bearer token-1'],
        ['/there', `${host}:${server.port}`, undefined],
      ])
    },
  )
})
