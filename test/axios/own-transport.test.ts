import http from 'node:http'
import https from 'node:https'
import { describe, expect, it, jest } from '@jest/globals'
import axios from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startApi } from './support/api-server.ts'
import { startTokens } from './support/tokens.ts'

/** Follows redirects by itself, and takes all headers along but `Authorization`. */
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
    'when it is that of the %s header on the %s, then the request goes out bare, and it is told (F218)',
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

  it('when a request says evergreen: false, then nothing is told', async () => {
    const { server } = await startRedirect()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'http', proxy: false, baseURL: server.baseUrl, evergreen: false })
    attachBearer(api, tokens)
    await api.get('/start', { transport: following } as object)
    expect(anomalies).toEqual([])
  })

  it('when an adapter of the user may hand it on, then the request goes out bare as well', async () => {
    const server = await startApi()
    const { tokens } = startTokens()
    const adapter = axios.getAdapter('http')
    const api = axios.create({ adapter: (config) => adapter(config), proxy: false, baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/', { transport: following } as object)
    expect(server.bearers).toEqual([undefined])
  })
})

describe('given a transport that follows nothing', () => {
  it.each<[string, object]>([
    ['the module http of Node', http],
    ['the module https of Node, for an address of http', { ...https, request: http.request }],
  ])('when it is %s, then the token is sent, and goes nowhere else (F218)', async (_, transport) => {
    const { server, other } = await startRedirect()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'http', proxy: false, baseURL: server.baseUrl, validateStatus: null })
    attachBearer(api, tokens)
    expect((await api.get('/start', { transport } as object)).status).toBe(302)
    expect([server.bearers, other.received, anomalies]).toEqual([['Bearer token-1'], [], []])
  })

  it('when the adapter is that of fetch, which has no transport, then the token is sent', async () => {
    const server = await startApi()
    const { tokens, anomalies } = startTokens()
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl })
    attachBearer(api, tokens)
    await api.get('/', { transport: following } as object)
    expect([server.bearers, anomalies]).toEqual([['Bearer token-1'], []])
  })
})
