import { Agent, createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import axios, { AxiosHeaders, type RawAxiosRequestHeaders } from 'axios'
import { clientCredentials } from '../../src/service/client-credentials.ts'
import { ADAPTERS, client, grantText, obtain, serve, sourceAt } from './world.ts'

const MEDIA_TYPE = 'application/vnd.api+json'
const REQUEST = {
  data: {
    type: 'auth-token',
    attributes: { client_id: client.clientId, client_secret: client.clientSecret },
  },
}

const issuing = () => serve((_, reply) => reply.end(grantText()))

describe.each(ADAPTERS)('given a service on loopback and the %s adapter', (adapter) => {
  it('when a token is obtained, then one POST with the document of the specification is all that is sent', async () => {
    const { origin, seen } = await issuing()
    await obtain(sourceAt(origin, { adapter }))
    expect(seen).toHaveLength(1)
    const { method, url, headers, body } = seen[0]!
    expect([method, url]).toEqual(['POST', '/token/'])
    expect(JSON.parse(body)).toEqual(REQUEST)
    expect(headers['content-type']).toBe(MEDIA_TYPE)
    expect(headers.accept).toBe(MEDIA_TYPE)
    expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
    expect(headers.authorization).toBeUndefined()
    expect(headers.cookie).toBeUndefined()
  })

  it('when two tokens are obtained, then two equal requests are sent', async () => {
    const { origin, seen } = await issuing()
    const source = sourceAt(origin, { adapter })
    await obtain(source)
    await obtain(source)
    expect(seen).toHaveLength(2)
    expect(seen[1]!.body).toBe(seen[0]!.body)
  })

  it.each([
    ['', '/token/'],
    ['/', '/token/'],
    ['//', '/token/'],
    ['/api', '/api/token/'],
    ['/api/', '/api/token/'],
    ['/api//', '/api/token/'],
    ['//api///v2', '/api/v2/token/'],
    ['/api/tokens', '/api/tokens/token/'],
    ['/api?v=1', '/api/token/?v=1'],
    ['/api/?v=1&w=%2F', '/api/token/?v=1&w=%2F'],
    ['/api?next=//there//', '/api/token/?next=//there//'],
    ['/api#top', '/api/token/'],
    ['/api/?v=1#top', '/api/token/?v=1'],
    ['/a/./b/../c', '/a/c/token/'],
    ['/a%20b/c%2Fd', '/a%20b/c%2Fd/token/'],
    ['/a b', '/a%20b/token/'],
    ['/ä', '/%C3%A4/token/'],
    ['/a;b=c,d:e@f', '/a;b=c,d:e@f/token/'],
  ])('when the base URL ends in %j, then the path is %s (F76)', async (suffix, path) => {
    const { origin, seen } = await issuing()
    await obtain(sourceAt(origin + suffix, { adapter }))
    await obtain(sourceAt(new URL(origin + suffix), { adapter }))
    expect(seen.map(({ url }) => url)).toEqual([path, path])
  })

  it.each<[string, RawAxiosRequestHeaders | AxiosHeaders]>([
    ['a plain object', { 'X-Tenant': 'blue', 'User-Agent': 'tests/1' }],
    ['AxiosHeaders', new AxiosHeaders({ 'X-Tenant': 'blue', 'User-Agent': 'tests/1' })],
  ])('when transport.headers are %s, then they are sent too', async (_, headers) => {
    const { origin, seen } = await issuing()
    await obtain(sourceAt(origin, { adapter, headers }))
    expect(seen[0]!.headers).toMatchObject({ 'x-tenant': 'blue', 'user-agent': 'tests/1', 'content-type': MEDIA_TYPE })
    expect(Object.keys(headers)).toEqual(['X-Tenant', 'User-Agent'])
  })

  it.each(['Content-Type', 'content-type', 'CONTENT-TYPE'])(
    'when transport.headers have %s, then the media type of the specification is kept',
    async (name) => {
      const { origin, seen } = await issuing()
      const headers = { [name]: 'text/plain', accept: 'text/html' }
      await obtain(sourceAt(origin, { adapter, headers }))
      expect(seen[0]!.headers).toMatchObject({ 'content-type': MEDIA_TYPE, accept: MEDIA_TYPE })
      expect(JSON.parse(seen[0]!.body)).toEqual(REQUEST)
      expect(headers).toEqual({ [name]: 'text/plain', accept: 'text/html' })
    },
  )

  it.each([
    ['neither ASCII nor composed', 'ключ-e\u0301-é'],
    ['an emoji', '🗝️'],
    ['quotes and backslashes', `"'\\`],
    ['space at both ends', '  spaced  '],
    ['200 characters long', 'k'.repeat(200)],
    ['what JSON and URLs escape', '</script>&=?#%00\u2028'],
  ])('when the credentials are %s, then they arrive as given (F90)', async (_, text) => {
    const { origin, seen } = await issuing()
    await obtain(
      clientCredentials({ baseUrl: origin, transport: { adapter }, clientId: text, clientSecret: `${text}!` }),
    )
    expect(JSON.parse(seen[0]!.body)).toMatchObject({
      data: { attributes: { client_id: text, client_secret: `${text}!` } },
    })
  })
})

describe.each(ADAPTERS)(
  'given an application that has changed the defaults of axios (F117), and the %s adapter',
  (adapter) => {
    const original = { ...axios.defaults }
    const used: number[] = []

    afterEach(() => {
      for (const name of Object.keys(axios.defaults)) Reflect.deleteProperty(axios.defaults, name)
      Object.assign(axios.defaults, original)
      axios.interceptors.request.clear()
      axios.interceptors.response.clear()
      used.length = 0
    })

    it.each<[string, () => void]>([
      ['transformRequest', () => (axios.defaults.transformRequest = [() => 'mangled'])],
      ['transformResponse', () => (axios.defaults.transformResponse = [() => ({ data: 'mangled' })])],
      ['responseType', () => (axios.defaults.responseType = 'arraybuffer')],
      ['headers', () => (axios.defaults.headers = { 'Content-Type': 'text/plain', 'X-Leak': 'yes' } as never)],
      ['baseURL', () => (axios.defaults.baseURL = 'http://127.0.0.1:1/')],
      ['allowAbsoluteUrls', () => (axios.defaults.allowAbsoluteUrls = false)],
      ['params', () => (axios.defaults.params = { leak: 'yes' })],
      ['auth', () => (axios.defaults.auth = { username: 'u', password: 'p' })],
      ['adapter', () => (axios.defaults.adapter = () => Promise.reject(new Error('the adapter of the application')))],
      ['timeout', () => (axios.defaults.timeout = -1)],
      ['maxContentLength', () => (axios.defaults.maxContentLength = 1)],
      ['maxBodyLength', () => (axios.defaults.maxBodyLength = 1)],
      ['validateStatus', () => (axios.defaults.validateStatus = () => false)],
      ['proxy', () => (axios.defaults.proxy = { host: '127.0.0.1', port: 1 })],
      ['signal', () => (axios.defaults.signal = AbortSignal.abort())],
      [
        'interceptors',
        () => {
          const use = <T>(value: T): T => {
            used.push(1)
            return value
          }
          axios.interceptors.request.use(use)
          axios.interceptors.response.use(use, use)
        },
      ],
    ])('when it has set %s, then the token request is the same', async (_, change) => {
      const { origin, seen } = await issuing()
      const source = sourceAt(origin, { adapter })
      await obtain(source)
      change()
      await obtain(source)
      await obtain(sourceAt(origin, { adapter }))
      expect(seen).toHaveLength(3)
      expect(seen[1]).toEqual(seen[0])
      expect(seen[2]).toEqual(seen[0])
      expect(used).toEqual([])
    })

    it('when it has set maxRedirects, then a redirect is not followed anyway', async () => {
      axios.defaults.maxRedirects = 5
      const { origin, seen } = await serve((request, reply) => {
        reply.writeHead(request.url === '/token/' ? 307 : 200, { Location: '/elsewhere/' }).end(grantText())
      })
      await expect(obtain(sourceAt(origin, { adapter }))).rejects.toMatchObject({ status: 307 })
      expect(seen.map(({ url }) => url)).toEqual(['/token/'])
    })
  },
)

describe('given transport settings', () => {
  it('when they name an agent, then the request goes through it', async () => {
    const { origin, seen } = await issuing()
    const httpAgent = new Agent()
    let connections = 0
    const connect = httpAgent.createConnection.bind(httpAgent)
    httpAgent.createConnection = (...args) => {
      connections += 1
      return connect(...args)
    }
    await obtain(sourceAt(origin, { httpAgent }))
    expect([connections, seen.length]).toEqual([1, 1])
  })

  it('when they name a lookup, then it resolves the host', async () => {
    const { origin, seen } = await issuing()
    const asked: string[] = []
    const lookup = async (hostname: string): Promise<[string, 4]> => {
      asked.push(hostname)
      return ['127.0.0.1', 4]
    }
    const baseUrl = origin.replace('127.0.0.1', 'tokens.localhost')
    await obtain(clientCredentials({ ...client, baseUrl, transport: { lookup }, allowInsecureHttp: true }))
    expect(asked).toEqual(['tokens.localhost'])
    expect(seen[0]!.headers.host).toBe(new URL(baseUrl).host)
  })

  it('when they name a socket path, then the request is sent there', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evergreen-'))
    const socketPath = join(folder, 'tokens.sock')
    const server = createServer((_, reply) => reply.end(grantText()))
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    try {
      expect((await obtain(sourceAt('http://localhost/', { socketPath }))).grant.accessToken).toBe('issued-token')
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true })
    }
  })

  it('when they name no adapter, then the http adapter is used, and the settings of the user stay unchanged', async () => {
    const { origin, seen } = await issuing()
    const transport = Object.freeze({ adapter: undefined, headers: Object.freeze({ 'X-Tenant': 'blue' }) })
    await obtain(clientCredentials({ baseUrl: origin, ...client, transport: transport as never }))
    expect(seen[0]!.headers['x-tenant']).toBe('blue')
  })
})

describe('given a proxy in the environment (F38)', () => {
  const { HTTP_PROXY, NO_PROXY } = process.env

  afterEach(() => {
    for (const [name, value] of Object.entries({ HTTP_PROXY, NO_PROXY }))
      if (value === undefined) Reflect.deleteProperty(process.env, name)
      else process.env[name] = value
  })

  it('when transport.proxy is false, then the credentials do not pass through it', async () => {
    const proxy = await issuing()
    const { origin, seen } = await issuing()
    process.env.HTTP_PROXY = proxy.origin
    process.env.NO_PROXY = ''
    await obtain(sourceAt(origin, { proxy: false }))
    expect([proxy.seen.length, seen.length]).toEqual([0, 1])
  })

  it('when transport.proxy names one, then the request passes through that one', async () => {
    const proxy = await issuing()
    const { hostname, port } = new URL(proxy.origin)
    const transport = { proxy: { host: hostname, port: Number(port) } }
    const baseUrl = 'http://tokens.localhost/api'
    await obtain(clientCredentials({ ...client, baseUrl, transport, allowInsecureHttp: true }))
    expect(proxy.seen.map(({ url }) => url)).toEqual(['http://tokens.localhost/api/token/'])
  })
})

describe.each(ADAPTERS)('given a second origin, and the %s adapter', (adapter) => {
  it.each([300, 301, 302, 303, 304, 305, 307, 308])(
    'when the service redirects to it with %i, then not a byte reaches it (P14, F39, F40)',
    async (status) => {
      const elsewhere = await issuing()
      const { origin, seen } = await serve((_, reply) => {
        reply.writeHead(status, { Location: `${elsewhere.origin}/token/` }).end()
      })
      const error: unknown = await obtain(sourceAt(origin, { adapter })).catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status, retryable: false })
      expect(seen).toHaveLength(1)
      expect(elsewhere.connections()).toBe(0)
    },
  )

  it('when a redirect only changes the trailing slash (F41), then it is not followed', async () => {
    const { origin, seen } = await serve((_, reply) => reply.writeHead(307, { Location: '/token' }).end(grantText()))
    await expect(obtain(sourceAt(origin, { adapter }))).rejects.toThrow(/changes only the trailing slash/)
    expect(seen).toHaveLength(1)
  })

  it('when a 200 has a Location and a Refresh, then they are ignored', async () => {
    const elsewhere = await issuing()
    const { origin } = await serve((_, reply) => {
      reply.writeHead(200, { Location: elsewhere.origin, Refresh: `0;url=${elsewhere.origin}` }).end(grantText())
    })
    expect((await obtain(sourceAt(origin, { adapter }))).grant.accessToken).toBe('issued-token')
    expect(elsewhere.connections()).toBe(0)
  })
})
