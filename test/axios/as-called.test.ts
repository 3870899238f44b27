import { describe, expect, it } from '@jest/globals'
import axios, { AxiosHeaders, type AxiosRequestConfig } from 'axios'
import { dpopKey } from '../../src/dpop/index.ts'
import { attachBearer } from '../../src/index.ts'
import { verified } from '../dpop/support/verifier.ts'
import { keyPair } from '../dpop/support/keys.ts'
import { type Received, rejecting, startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'

/** Why a request is sent after its call has returned, or a second time. */
const LATER = ['waits for a token', 'is replayed after a 401', 'is signed by a key'] as const

class Page {
  page = 1
}
class Query {
  page = 1
  toString(): string {
    return `p=${this.page}`
  }
}

async function world(adapter: 'http' | 'fetch', later: (typeof LATER)[number]) {
  const server = await startApi(later === 'is replayed after a 401' ? rejecting('token-1') : undefined)
  const { tokens, minted } = startTokens()
  if (later === 'waits for a token') minted.hold()
  else await tokens.getAccessToken()
  const api = axios.create({ adapter, baseURL: server.baseUrl, proxy: false })
  const dpop = later === 'is signed by a key' ? dpopKey(await keyPair()) : undefined
  attachBearer(api, tokens, { dpop })
  /** Sends the request, runs `change` once the call has returned, and waits for the response. */
  const send = async (config: AxiosRequestConfig, change: () => void): Promise<readonly Received[]> => {
    const sent = api.request({ method: 'post', url: '/', ...config })
    change()
    minted.release()
    await sent
    expect(server.received).toHaveLength(later === 'is replayed after a 401' ? 2 : 1)
    return server.received
  }
  return { server, api, send }
}

describe.each(['http', 'fetch'] as const)('given the %s adapter', (adapter) => {
  describe.each(LATER)('and a request that %s', (later) => {
    it('when its URLSearchParams change after the call, then the query is the one at the call (F263)', async () => {
      const { send } = await world(adapter, later)
      const params = new URLSearchParams({ page: '1' })
      for (const { url, headers } of await send({ params }, () => params.set('page', '2'))) {
        expect(url).toBe('/?page=1')
        if (headers.dpop !== undefined) expect(verified(headers.dpop).claims.htu).toMatch(/\/$/)
      }
    })

    it('when params of a class change after the call, then the query is the one at the call (F263)', async () => {
      const { send } = await world(adapter, later)
      const params = new Page()
      for (const { url } of await send({ params }, () => (params.page = 2))) expect(url).toBe('/?page=1')
    })

    it('when a serializer reads params that change after the call, then it runs once, at the call (F263)', async () => {
      const { send } = await world(adapter, later)
      const params = new Query()
      let calls = 0
      const serialize = (given: object) => `n=${(calls += 1)}&${(given as Query).toString()}`
      for (const { url } of await send({ params, paramsSerializer: { serialize } }, () => (params.page = 2)))
        expect(url).toBe('/?n=1&p=1')
      expect(calls).toBe(1)
    })

    it('when its FormData changes after the call, then the fields are those at the call (F263)', async () => {
      const { send } = await world(adapter, later)
      const data = new FormData()
      data.append('to', 'alice')
      data.append('file', new File(['content'], 'a.txt'))
      const received = await send({ data }, () => {
        data.set('to', 'bob')
        data.delete('file')
      })
      for (const { body } of received) {
        expect(body.toString()).toMatch(/alice[^]*filename="a.txt"[^]*content/)
        expect(body.toString()).not.toContain('bob')
      }
    })

    it.each<[string, (bytes: Uint8Array<ArrayBuffer>) => unknown]>([
      ['a Buffer', ({ buffer }) => Buffer.from(buffer)],
      ['an ArrayBuffer', ({ buffer }) => buffer],
      ['a Uint8Array', (bytes) => bytes],
      ['a Float32Array', ({ buffer }) => new Float32Array(buffer)],
      ['a DataView', ({ buffer }) => new DataView(buffer)],
    ])('when the bytes of %s change after the call, then the original bytes are sent (F263)', async (_, dataOf) => {
      const { send } = await world(adapter, later)
      const bytes = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8])
      for (const { body } of await send({ data: dataOf(bytes) }, () => bytes.fill(0)))
        expect([...body]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    })

    it('when headers that an interceptor shares change after the call, then the original values are sent', async () => {
      const { api, send } = await world(adapter, later)
      const shared = new AxiosHeaders({ 'X-Tenant': 'alice' })
      api.interceptors.request.use(
        (config) => {
          config.headers = shared
          return config
        },
        undefined,
        { synchronous: true },
      )
      for (const { headers } of await send({}, () => shared.set({ 'X-Tenant': 'bob', 'X-Other': '1' }))) {
        expect(headers['x-tenant']).toBe('alice')
        expect(headers).not.toHaveProperty('x-other')
      }
    })
  })

  it('when the body is a File, and the API rejects the token, then the file is sent again (F267)', async () => {
    const { send } = await world(adapter, 'is replayed after a 401')
    const file = new File(['content of the file'], 'a.txt', { type: 'text/x-own' })
    for (const { body, headers } of await send({ data: file }, () => undefined)) {
      expect(body.toString()).toBe('content of the file')
      expect(headers['content-type']).toBe(adapter === 'http' ? 'text/x-own' : headers['content-type'])
      expect(headers['content-length']).toBe('19')
    }
  })

  it('when a request has ended, then its config has the params and the serializer of the caller again', async () => {
    const { api } = await world(adapter, 'is replayed after a 401')
    const params = new URLSearchParams({ page: '1' })
    const { config } = await api.get('/', { params })
    expect(config.params).toBe(params)
    expect(config.paramsSerializer).toBeUndefined()
    const serialize = () => 'own'
    const { config: own } = await api.get('/', { params, paramsSerializer: { serialize } })
    expect(own.paramsSerializer).toEqual({ serialize })
  })

  it('when a serializer throws, then the request fails as it does without this package', async () => {
    const { api, server } = await world(adapter, 'is replayed after a 401')
    const failing = {
      params: { a: 1 },
      paramsSerializer: {
        serialize: () => {
          throw new Error('no query')
        },
      },
    }
    const bare = axios.create({ adapter, baseURL: server.baseUrl, proxy: false })
    const [own, plain] = await Promise.all(
      [api, bare].map((one) => one.get('/', failing).catch((error: unknown) => error)),
    )
    expect(own).toMatchObject({ message: 'no query', name: (plain as Error).name })
    expect(server.received).toHaveLength(0)
  })
})
