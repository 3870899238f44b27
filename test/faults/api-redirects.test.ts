import { Agent, type RequestListener } from 'node:http'
import { Agent as TlsAgent, createServer as createTlsServer } from 'node:https'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError, type AxiosRequestConfig } from 'axios'
import { attachBearer } from '../../src/index.ts'
import { startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf, until } from '../axios/support/turns.ts'
import { selfSigned } from '../service/certificate.ts'
import { ADAPTERS, listening, serve } from '../service/world.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

type BeforeRedirect = NonNullable<AxiosRequestConfig['beforeRedirect']>

const redirecting =
  (status: number, location: () => string): RequestListener =>
  (_, reply) =>
    void reply.writeHead(status, { Location: location() }).end()
const accepting: RequestListener = (_, reply) => void reply.end('{}')
const refusing: RequestListener = (_, reply) => void reply.writeHead(401).end()

/** One host name with and without TLS. */
async function startBoth(overTls: RequestListener, plain: RequestListener) {
  const certificate = selfSigned()
  const bearers: Record<'http' | 'https', (string | undefined)[]> = { http: [], https: [] }
  const secure = createTlsServer(certificate, (request, reply) => {
    bearers.https.push(request.headers.authorization)
    overTls(request, reply)
  })
  const server = await serve((request, reply) => {
    bearers.http.push(request.headers.authorization)
    plain(request, reply)
  })
  const named = (origin: string) => origin.replace('127.0.0.1', 'localhost')
  const http = named(server.origin)
  const https = named(`https://${await listening(secure)}`)
  return {
    bearers,
    http,
    https,
    httpsAgent: new TlsAgent({ ca: certificate.cert }),
    /** With these agents, `http://localhost` and `https://localhost` lead here. */
    agents: {
      httpAgent: new Agent(portOf(http)),
      httpsAgent: new TlsAgent({ ca: certificate.cert, ...portOf(https) }),
    },
  }
}

/** The options of an agent override those of a request. */
const portOf = (origin: string) => ({ port: Number(new URL(origin).port) })

describe.each([301, 302, 303, 307, 308])('given an API that redirects requests to another scheme with %i', (status) => {
  it('when the redirect leads from https to http, then the token is not sent in clear text (F42)', async () => {
    const both = await startBoth(
      redirecting(status, () => `${both.http}/there`),
      accepting,
    )
    const api = axios.create({ adapter: 'http', baseURL: both.https, httpsAgent: both.httpsAgent })
    attachBearer(api, startTokens().tokens)
    expect((await api.post('/away', 'body')).status).toBe(200)
    expect(both.bearers).toEqual({ https: ['Bearer token-1'], http: [undefined] })
  })

  it('when the redirect leads from http to https, then the token is not sent either (F42)', async () => {
    const both = await startBoth(
      accepting,
      redirecting(status, () => `${both.https}/there`),
    )
    const api = axios.create({ adapter: 'http', baseURL: both.http, httpsAgent: both.httpsAgent })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/away')).status).toBe(200)
    expect(both.bearers).toEqual({ http: ['Bearer token-1'], https: [undefined] })
  })

  it('when the redirect leads to https on its default port, and the host is the same, then the token is not sent either (F42)', async () => {
    const both = await startBoth(
      accepting,
      redirecting(status, () => 'https://localhost/there'),
    )
    const api = axios.create({ adapter: 'http', baseURL: 'http://localhost', ...both.agents })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/away')).status).toBe(200)
    expect(both.bearers).toEqual({ http: ['Bearer token-1'], https: [undefined] })
  })
})

describe('given a request with its own Host header', () => {
  it('when it is redirected to another path, then the named host receives it without the token (F42)', async () => {
    const named = await serve(accepting)
    const server = await serve(redirecting(307, () => '/there'))
    const api = axios.create({ adapter: 'http', baseURL: server.origin, headers: { Host: new URL(named.origin).host } })
    attachBearer(api, startTokens().tokens)
    expect((await api.get('/away')).status).toBe(200)
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1'])
    expect(named.seen.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
})

describe('given a request with its own beforeRedirect', () => {
  async function startAway(beforeRedirect: BeforeRedirect) {
    const other = await serve(accepting)
    const server = await serve(
      redirecting(307, () => (server.seen.length === 1 ? '/elsewhere' : `${other.origin}/there`)),
    )
    const api = axios.create({ adapter: 'http', baseURL: server.origin })
    attachBearer(api, startTokens().tokens)
    return { other, server, requested: api.get('/away', { beforeRedirect }) }
  }

  it('when it is redirected, then the callback runs each time, and only requests that leave the origin lack the token', async () => {
    const headers: unknown[] = []
    const beforeRedirect: BeforeRedirect = (options) => void headers.push({ ...options.headers })
    const { other, server, requested } = await startAway(beforeRedirect)
    const { config } = await requested
    expect(headers).toEqual([
      expect.objectContaining({ Authorization: 'Bearer token-1' }),
      expect.not.objectContaining({ Authorization: expect.anything() }),
    ])
    expect([server.seen, other.seen].map(({ length }) => length)).toEqual([2, 1])
    expect(config.beforeRedirect).toBe(beforeRedirect)
  })

  it('when the callback throws, then nothing more is sent, and the error is an AxiosError with an unchanged config', async () => {
    const beforeRedirect: BeforeRedirect = ({ path }) => {
      if (path === '/there') throw new Error('not there')
    }
    const { other, server, requested } = await startAway(beforeRedirect)
    const error = await failureOf<AxiosError>(requested)
    expect(error).toMatchObject({ isAxiosError: true, message: expect.stringContaining('not there') })
    expect([server.seen, other.seen].map(({ length }) => length)).toEqual([2, 0])
    expect(error.config!.beforeRedirect).toBe(beforeRedirect)
    expect(error.config!.headers.has('Authorization')).toBe(false)
  })

  it('when redirects are disabled, then the callback never runs, and the config is unchanged', async () => {
    const server = await serve(redirecting(302, () => '/elsewhere'))
    const api = axios.create({ adapter: 'http', baseURL: server.origin, maxRedirects: 0 })
    attachBearer(api, startTokens().tokens)
    const beforeRedirect: BeforeRedirect = () => expect('this').toBe('never run')
    const { config, status } = await failureOf<AxiosError>(api.get('/away', { beforeRedirect }))
    expect([status, server.seen.length]).toEqual([302, 1])
    expect(config).toMatchObject({ maxRedirects: 0, beforeRedirect })
  })
})

describe.each(ADAPTERS)('given an API that redirects requests to another origin (%s adapter)', (adapter) => {
  it('when that origin rejects them because they lack a token, then no token is renewed or sent there (F42)', async () => {
    const other = await serve(refusing)
    const server = await serve(redirecting(307, () => `${other.origin}/there`))
    const { tokens, minted } = startTokens({ clock: manualClock() })
    const api = axios.create({ adapter, baseURL: server.origin })
    attachBearer(api, tokens)
    for (let request = 0; request < 3; request += 1)
      expect(await failureOf<AxiosError>(api.get('/away'))).toMatchObject({ status: 401 })
    expect(JSON.stringify(other.seen)).not.toContain('token-')
    expect([minted.calls, server.seen.length]).toEqual([1, 3])
  })
})

describe.each(ADAPTERS)(
  'given an API that redirects requests to another path, which rejects the token (%s adapter)',
  (adapter) => {
    async function startRefusing(status: number) {
      const server = await startApi(({ url, headers }) => {
        if (url === '/old') return { status, headers: { Location: '/new' } }
        return headers.authorization === 'Bearer token-1' ? { status: 401 } : {}
      })
      const api = axios.create({ adapter, baseURL: server.baseUrl })
      const { tokens, minted } = startTokens()
      attachBearer(api, tokens)
      return { api, minted, tokens, sent: () => server.received.map(({ method, url }) => `${method} ${url}`) }
    }

    it.each([301, 302, 303])(
      'when the response to a POST was %i, then the request was executed and is not sent again, but its token is replaced (F43)',
      async (status) => {
        const { api, minted, tokens, sent } = await startRefusing(status)
        expect(await failureOf<AxiosError>(api.post('/old', 'payment'))).toMatchObject({ status: 401 })
        await until(() => tokens.peekAccessToken() === 'token-2')
        expect((await api.get('/new')).status).toBe(200)
        expect([sent(), minted.calls]).toEqual([['POST /old', 'GET /new', 'GET /new'], 2])
      },
    )

    it.each([307, 308])(
      'when a POST was redirected with %i, then it is not sent again, because fetch does not show that it was still a POST',
      async (status) => {
        const { api, tokens, sent } = await startRefusing(status)
        const { status: received } = await api.post('/old', 'payment', { validateStatus: () => true })
        expect([received, sent()]).toEqual([401, ['POST /old', 'POST /new']])
        await until(() => tokens.peekAccessToken() === 'token-2')
        expect((await api.post('/old', 'payment')).status).toBe(200)
      },
    )

    it.each([301, 302, 303, 307, 308])('when a GET was redirected with %i, then it is sent again', async (status) => {
      const { api, minted, sent } = await startRefusing(status)
      expect((await api.get('/old')).status).toBe(200)
      expect([sent(), minted.calls]).toEqual([['GET /old', 'GET /new', 'GET /old', 'GET /new'], 2])
    })

    it.each([301, 302, 307, 308])(
      'when a PUT was redirected with %i, then it is sent again (RFC 9110, 9.2.2)',
      async (status) => {
        const { api, minted, sent } = await startRefusing(status)
        expect((await api.put('/old', 'profile')).status).toBe(200)
        expect([sent(), minted.calls]).toEqual([['PUT /old', 'PUT /new', 'PUT /old', 'PUT /new'], 2])
      },
    )
  },
)

describe('given a custom fetch', () => {
  it('when requests are sent, then it sends them, and its redirects are observed too', async () => {
    const server = await startApi(({ url }) =>
      url === '/old' ? { status: 303, headers: { Location: '/new' } } : { status: 401 },
    )
    const given: string[] = []
    const own: typeof fetch = (...what) => {
      given.push((what[0] as Request).url)
      return fetch(...what)
    }
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl, env: { fetch: own } })
    attachBearer(api, startTokens().tokens)
    const { config } = await failureOf<AxiosError>(api.post('/old', 'payment'))
    expect(server.received).toHaveLength(2)
    expect(given).toEqual([`${server.baseUrl}/old`])
    expect(config!.env?.fetch).toBe(own)
  })

  it('when it needs no Request, then its redirects are observed too (F43)', async () => {
    const server = await startApi(({ url }) =>
      url === '/old' ? { status: 303, headers: { Location: '/new' } } : { status: 401 },
    )
    const own: typeof fetch = (...what) => fetch(...what)
    const env = { fetch: own, Request: null, Response: null } as never
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl, env })
    attachBearer(api, startTokens().tokens)
    await failureOf<AxiosError>(api.post('/old', 'payment'))
    expect(server.received.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  it('when it makes responses by hand, without a URL, then they count as responses of the origin', async () => {
    const own: typeof fetch = async () => Object.defineProperty(new Response('made'), 'redirected', { value: true })
    const api = axios.create({ adapter: 'fetch', baseURL: 'https://api.example', env: { fetch: own } })
    attachBearer(api, startTokens().tokens)
    expect((await api.get<string>('/')).data).toBe('made')
  })

  it.each(ADAPTERS)(
    'when it is null, or only inherited, then the fetch of the platform is used (%s adapter)',
    async (adapter) => {
      const server = await startApi()
      const inherited = Object.create({ fetch: () => Promise.reject(new Error('inherited')) }) as object
      for (const env of [{ fetch: null }, inherited]) {
        const api = axios.create({ adapter, baseURL: server.baseUrl })
        api.interceptors.request.use((config) => Object.assign(config, { env }))
        attachBearer(api, startTokens().tokens)
        expect((await api.get('/')).status).toBe(200)
      }
    },
  )

  it('when there is none, and the fetch of the platform is replaced later, then the replacement sends the requests', async () => {
    const server = await startApi()
    const api = axios.create({ adapter: 'fetch', baseURL: server.baseUrl })
    attachBearer(api, startTokens().tokens)
    await api.get('/before')
    const platform = globalThis.fetch
    try {
      globalThis.fetch = () => Promise.resolve(new Response('in its place'))
      expect((await api.get<string>('/after')).data).toBe('in its place')
    } finally {
      globalThis.fetch = platform
    }
    expect(server.received).toHaveLength(1)
  })
})
