import http from 'node:http'
import https from 'node:https'
import { describe, expect, it, jest } from '@jest/globals'
import axios from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'

/** Follows redirects by itself, and keeps all headers except `Authorization`. */
const { http: following } = jest.requireActual<{ http: object }>('follow-redirects')

/** An API that redirects to another origin. */
async function startRedirect() {
  const other = await startApi()
  const server = await startApi(({ url }) =>
    url === '/start' ? { status: 302, headers: { Location: `${other.baseUrl}/there` } } : {},
  )
  return { server, other }
}

describe('given a transport that follows redirects by itself', () => {
  it.each([
    ['Authorization', 'request'],
    ['X-Token', 'request'],
    ['Authorization', 'instance'],
    ['X-Token', 'instance'],
  ])(
    'when the token is in the %s header and the transport is set on the %s, then the request is sent without a token, and an anomaly reports it (F218)',
    async (header, where) => {
      const { server, other } = await startRedirect()
      const { tokens, anomalies } = startTokens()
      const own = { transport: following }
      const api = axios.create({
        adapter: 'http',
        proxy: false,
        baseURL: server.baseUrl,
        ...(where === 'instance' && own),
      })
      attachBearer(api, tokens, { header })
      await api.get('/start', where === 'request' ? own : {})
      const name = header.toLowerCase()
      expect([...server.received, ...other.received].map(({ headers }) => headers[name])).toEqual([
        undefined,
        undefined,
      ])
      await Promise.resolve()
      expect(anomalies).toMatchObject([
        { kind: 'custom-transport', message: expect.stringContaining('may follow redirects') },
      ])
    },
  )

  it('when a request has evergreen: false, then no anomaly is reported', async () => {
    const { server } = await startRedirect()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'http', proxy: false, baseURL: server.baseUrl, evergreen: false })
    attachBearer(api, tokens)
    await api.get('/start', { transport: following } as object)
    expect(anomalies).toEqual([])
  })

  it('when a custom adapter may use such a transport, then the request is sent without a token too', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const adapter = axios.getAdapter('http')
    const api = axios.create({ adapter: (config) => adapter(config), proxy: false, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/', { transport: following } as object)
    expect(server.bearers).toEqual([undefined])
  })
})

describe('given a transport that follows no redirects', () => {
  it.each<[string, object]>([
    ['the http module of Node', http],
    ['the https module of Node, for an http address', { ...https, request: http.request }],
  ])('when it is %s, then the token is sent to the API only (F218)', async (_, transport) => {
    const { server, other } = await startRedirect()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'http', proxy: false, baseURL: server.baseUrl, validateStatus: null })
    attachBearer(api, tokens)
    expect((await api.get('/start', { transport } as object)).status).toBe(302)
    expect([server.bearers, other.received, anomalies]).toEqual([['Bearer token-1'], [], []])
  })

  it('when the fetch adapter is used, which has no transport, then the token is sent', async () => {
    const server = await startApi()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/', { transport: following } as object)
    expect([server.bearers, anomalies]).toEqual([['Bearer token-1'], []])
  })
})
