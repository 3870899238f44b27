import { describe, expect, it } from '@jest/globals'
import axios, { AxiosHeaders, type InternalAxiosRequestConfig } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { inProcess } from './support/in-process.ts'
import { rejecting, startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'
import { gate, until } from './support/turns.ts'

const ADAPTERS = ['http', 'fetch'] as const

describe.each(ADAPTERS)('given one headers object that an interceptor sets on all requests (%s adapter)', (adapter) => {
  it('when requests overlap, then none carries the token of another, and each can be replayed (F219)', async () => {
    const opened = gate()
    const server = await startApi(async (request, index) => {
      if (request.url === '/slow') await opened.opened
      return rejecting('token-1')(request, index)
    })
    const other = await startApi()
    const { tokens, anomalies } = startTokens()
    await tokens.getAccessToken()
    const api = axios.create({ adapter, proxy: false, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    const shared = new AxiosHeaders({ 'x-app': '1' })
    api.interceptors.request.use((config) => {
      config.headers = shared
      return config
    })
    const slow = api.get('/slow')
    await until(() => server.received.length === 1)
    await api.get(`${other.baseUrl}/x`)
    await api.get('/quick')
    opened.open()
    await slow
    expect(other.bearers).toEqual([undefined])
    expect(server.bearers.toSorted()).toEqual(
      ['token-1', 'token-1', 'token-2', 'token-2'].map((token) => `Bearer ${token}`),
    )
    expect(shared.has('Authorization')).toBe(false)
    expect(anomalies.map(({ kind }) => kind)).toEqual(['origin-not-allowed'])
  })
})

describe('given the headers of one request', () => {
  it('when the adapter is called, then it receives a copy of the same class, and the config ends without the token (F219)', async () => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    attachBearer(api, startTokens().tokens)
    let given: InternalAxiosRequestConfig['headers'] | undefined
    api.interceptors.request.use((config) => {
      given = config.headers
      return config
    })
    const { config } = await api.post('/', { a: 1 }, { headers: { 'X-A': 'b', 'Content-Type': 'text/x' } })
    expect(calls[0]!.headers).toMatchObject({ 'X-A': 'b', 'Content-Type': 'text/x', Authorization: 'Bearer token-1' })
    expect(config.headers).not.toBe(given)
    expect(config.headers.toJSON()).toEqual(given?.toJSON())
    expect(config.headers).toBeInstanceOf(AxiosHeaders)
    expect(config.headers.has('Authorization')).toBe(false)
  })

  it('when an interceptor has frozen them, then axios throws the same error as without a token', async () => {
    const { adapter, calls } = inProcess()
    const api = axios.create({ adapter, baseURL: 'https://api.example.com' })
    api.interceptors.request.use((config) => {
      Object.freeze(config.headers)
      return config
    })
    await expect(api.get('/')).rejects.toBeInstanceOf(TypeError)
    attachBearer(api, startTokens().tokens)
    await expect(api.get('/')).rejects.toBeInstanceOf(TypeError)
    expect(calls).toEqual([])
  })
})
