import { Agent } from 'node:http'
import { Readable } from 'node:stream'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import axios, { type AxiosError, type AxiosRequestConfig, type AxiosResponse } from 'axios'
import { attachBearer, type AttachOptions } from '../../src/index.ts'
import { consoleLogged, expectNoCanary, logged, printed } from '../support/canary.ts'
import { part } from '../support/part.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { rejection, type Script, startApi } from './support/api-server.ts'
import { inProcess } from './support/in-process.ts'
import { startTokens } from './support/tokens.ts'
import { serve } from '../service/world.ts'
import { failureOf, gate, until } from './support/turns.ts'

const MARKED = 'canary-of-a-token'

function attached(baseURL: string, options: AxiosRequestConfig, attach: AttachOptions = {}) {
  const api = axios.create({ baseURL, ...options })
  const { tokens } = startTokens({ token: (n) => `${MARKED}-${n}` })
  attachBearer(api, tokens, attach)
  return { api, tokens }
}

/** Expects that the server received the token: otherwise its absence elsewhere proves nothing. */
function expectSent({ received }: { received: readonly object[] }, times: number): void {
  expect(received.filter((request) => JSON.stringify(request).includes(MARKED))).toHaveLength(times)
}

function expectConcealed(holder: AxiosResponse | AxiosError, header = 'Authorization'): void {
  expectNoCanary(printed(holder))
  expect(holder.config!.headers.has(header)).toBe(false)
  if (holder.request === undefined) return
  expect(Object.keys(holder)).not.toContain('request')
  expect(Object.getOwnPropertyDescriptor(holder, 'request')).toMatchObject({ enumerable: false, writable: true })
}

const unanswered: Script = () => new Promise(() => undefined)

const FORMS: [string, AttachOptions, string][] = [
  ['Authorization', {}, 'Authorization'],
  ['another header', { header: 'X-Api-Token', scheme: '' }, 'X-Api-Token'],
]
const CASES = (['http', 'fetch'] as const).flatMap((adapter) => FORMS.map((form) => [adapter, ...form] as const))

describe.each(CASES)('given (%s adapter) a token sent in %s', (adapter, _, attach, header) => {
  it('when a response is printed, then no token is visible, and its request is still readable', async () => {
    const server = await startApi()
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const response = await api.post<unknown>('/', { a: 1 })
    expectSent(server, 1)
    expectConcealed(response, header)
    expect(response.request).toBeDefined()
    expect(inspect(response)).toContain('ok: true')
  })

  it('when a response arrives, then it has the members of any other response, in the same order', async () => {
    const server = await startApi()
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const plain = axios.create({ baseURL: server.baseUrl, adapter })
    const [response, other] = [await api.get<unknown>('/'), await plain.get<unknown>('/')]
    expect(Object.keys(response)).toEqual(Object.keys(other).filter((name) => name !== 'request'))
    expect(response.data).toEqual(other.data)
  })

  it('when a replayed response is printed, then neither token is visible', async () => {
    const server = await startApi((_request, index) => (index === 0 ? rejection : {}))
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const response = await api.get('/')
    expectSent(server, 2)
    expectConcealed(response, header)
  })

  it.each(['json', 'stream'] as const)(
    'when a request that sends a stream receives a %s or an error, then nothing that holds the request shows a token (F166)',
    async (responseType) => {
      const server = await startApi(({ url }) => ({ status: url === '/bad' ? 422 : 200 }))
      const { api } = attached(server.baseUrl, { adapter, responseType }, attach)
      const post = (url: string) => api.post<unknown>(url, Readable.from([Buffer.from('sent')]))
      const error = await failureOf<AxiosError>(post('/bad'))
      const responses = [await post('/good'), error.response!]
      expectSent(server, 2)
      for (const holder of [error, ...responses]) {
        expectConcealed(holder, header)
        for (const depth of part([2, 5, 9], [2, 5])) expectNoCanary(inspect(holder, { depth, showHidden: true }))
        expect((holder.request as { method: string }).method).toBe('POST')
      }
      expectNoCanary(JSON.stringify(error))
      for (const { data, config } of responses) {
        for (const held of [data, config, config.data])
          expectNoCanary(consoleLogged(held) + inspect(held, { depth: part(9, 5) }))
        for await (const chunk of responseType === 'stream' ? (data as Readable) : []) expect(chunk).toBeTruthy()
      }
    },
  )

  it('when the request of a response is printed, then it shows its URL, and is still readable (F166)', async () => {
    const server = await startApi()
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const answer = await api.get<unknown>('/', { params: { q: 1 } })
    const request = answer.request as { headers?: Headers; getHeader(name: string): unknown }
    expect(inspect({ request })).toMatch(/Request GET .*\?q=1/)
    expect(JSON.stringify({ request })).toMatch(/Request GET .*\?q=1/)
    // A copy lacks the methods of the original's class. The token must be concealed in the copy, too.
    expectNoCanary(inspect({ ...request }) + JSON.stringify({ ...request }))
    const sent = request.headers ? request.headers.get(header) : request.getHeader(header)
    expect(sent).toContain(MARKED)
  })

  it.each<[string, Script, AxiosRequestConfig, number]>([
    ['two 401s', () => rejection, {}, 2],
    ['a 401 whose body went once', () => rejection, { method: 'post', data: new ReadableStream() }, 1],
    ['a 500', () => ({ status: 500 }), {}, 1],
    [
      'an unfollowed redirect',
      () => ({ status: 302, headers: { Location: '/' } }),
      { maxRedirects: 0, fetchOptions: { redirect: 'manual' } },
      1,
    ],
    ['a body too large', () => ({ body: 'x'.repeat(100) }), { maxContentLength: 10 }, 1],
    [
      'a body that is not JSON',
      () => ({ body: '{' }),
      { responseType: 'json', transitional: { silentJSONParsing: false } },
      1,
    ],
    ['an unknown encoding', () => ({ headers: { 'Content-Encoding': 'gzip' }, body: 'no gzip' }), {}, 1],
  ])('when the error of %s is printed, then no token is visible', async (name, script, options, sent) => {
    const server = await startApi(script)
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const once = name.includes('went once')
    const data = once ? new Response('body').body : undefined
    const error = await failureOf<AxiosError>(api.request({ url: '/', ...options, ...(once && { data }) }))
    // axios' http adapter takes no ReadableStream, and rejects before it sends anything.
    expectSent(server, once && adapter === 'http' ? 0 : sent)
    expect(error.isAxiosError).toBe(true)
    expectConcealed(error, header)
    if (error.response) expectConcealed(error.response, header)
  })

  it('when the connection of a request is refused, then its error shows no token', async () => {
    const { api } = attached('http://127.0.0.1:9', { adapter }, attach)
    const error = await failureOf<AxiosError>(api.get('/'))
    expect(error.request).toBeDefined()
    expectConcealed(error, header)
  })

  it.each(['aborted', 'cancelled'])('when a request is %s in flight, then its error shows no token', async (end) => {
    const server = await startApi(unanswered)
    const { api, tokens } = attached(server.baseUrl, { adapter }, attach)
    await tokens.getAccessToken()
    const controller = new AbortController()
    const { token: cancelToken, cancel } = axios.CancelToken.source()
    const failed = failureOf<AxiosError>(api.get('/', { signal: controller.signal, cancelToken }))
    await until(() => server.received.length === 1)
    if (end === 'aborted') controller.abort()
    else cancel('changed my mind')
    const error = await failed
    expectSent(server, 1)
    expect(axios.isCancel(error)).toBe(true)
    // axios' fetch adapter gives an error that contains itself (`config.cancelToken.reason`): JSON.stringify fails.
    expectNoCanary(end === 'cancelled' ? consoleLogged(error) + inspect(error, { depth: Infinity }) : printed(error))
    expect(Object.keys(error)).not.toContain('request')
  })

  it('when a request times out in flight, then its error shows no token', async () => {
    const server = await startApi(unanswered)
    const { api } = attached(server.baseUrl, { adapter }, attach)
    let error: AxiosError | undefined
    // The timeout grows until one request reaches the server, however slow the machine is.
    for (let timeout = 20; server.received.length === 0; timeout *= 2)
      error = await failureOf<AxiosError>(api.get('/', { timeout }))
    expectSent(server, server.received.length)
    expect(error?.message).toMatch(/^timeout of/)
    expectConcealed(error!, header)
  })

  it.each([200, 500])(
    'when a request breaks off while its %i is read as a stream, then the error shows no token',
    async (status) => {
      const { origin } = await serve((_, reply) => void reply.writeHead(status).write('x'.repeat(2_000)))
      const { api } = attached(origin, { adapter, responseType: 'stream' }, attach)
      type Body = AsyncIterable<Uint8Array>
      const controller = new AbortController()
      const read = async (options: AxiosRequestConfig) => {
        const answered = api.get<Body>('/', options)
        const { data } = await answered.catch((error: unknown) => (error as AxiosError<Body>).response!)
        for await (const chunk of data) {
          expect(chunk.length).toBeGreaterThan(0)
          controller.abort()
        }
      }
      const ends: AxiosRequestConfig[] = [{ maxContentLength: 1_000 }]
      // An abort does not end the body of a response that axios rejected.
      if (status === 200) ends.push({ signal: controller.signal })
      for (const options of ends) {
        const error = await failureOf<unknown>(read(options))
        expectNoCanary(consoleLogged(error) + inspect(error, { depth: Infinity }))
        // Also for code that prints all members by hand. The Request of fetch has none.
        if (adapter === 'http') expect(Object.keys(error as object)).not.toContain('request')
      }
    },
  )

  it('when a stream is too large to be sent, then neither the error nor its cause shows a token', async () => {
    const server = await startApi()
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const body = Readable.from([Buffer.alloc(2_000), Buffer.alloc(2_000)])
    const error = await failureOf<AxiosError>(api.post('/', body, { maxBodyLength: 1_000 }))
    expect(error.message).toMatch(/larger than maxBodyLength/)
    expectNoCanary(consoleLogged(error) + inspect(error, { depth: Infinity }))
  })

  it('when redirects never end, then the error shows no token', async () => {
    const server = await startApi(() => ({ status: 302, headers: { Location: '/again' } }))
    const { api } = attached(server.baseUrl, { adapter, maxRedirects: 3 }, attach)
    const error = await failureOf<AxiosError>(api.get('/'))
    expectConcealed(error, header)
  })

  it('when a user interceptor prints its argument, then no token is visible', async () => {
    const server = await startApi(({ url }) => (url === '/bad' ? { status: 500 } : {}))
    const { api } = attached(server.baseUrl, { adapter }, attach)
    const seen: string[] = []
    api.interceptors.request.use((config) => {
      seen.push(printed(config))
      return config
    })
    api.interceptors.response.use(
      (response) => {
        seen.push(printed(response))
        return response
      },
      (error: AxiosError) => {
        seen.push(printed(error))
        throw error
      },
    )
    await api.get('/good')
    await failureOf(api.get('/bad'))
    expect(seen).toHaveLength(4)
    expectNoCanary(seen.join())
    expectSent(server, 2)
  })
})

describe('given an agent of the user in the config', () => {
  const logs: [string, (value: object) => string][] = [
    ['console.log', (value) => consoleLogged(value)],
    ['inspect to depth 6', (value) => inspect(value, { depth: 6 })],
    // A response holds the sockets of its agent, which JSON.stringify cannot print.
    ['JSON.stringify', (value) => ('toJSON' in value ? JSON.stringify(value) : '')],
  ]

  // Below depth 6, an agent shows other requests on its sockets, as it does without this package (docs/reference.md).
  it('when an error and a response are printed while another request is in flight, then no token is visible', async () => {
    const answer = gate()
    const server = await startApi(async ({ url }) => {
      if (url === '/slow') await answer.opened
      return url === '/bad' ? { status: 500 } : {}
    })
    const httpAgent = new Agent({ keepAlive: true })
    try {
      const { api, tokens } = attached(server.baseUrl, { adapter: 'http', httpAgent })
      await tokens.getAccessToken()
      const slow = api.get('/slow')
      await until(() => server.received.length === 1)
      const texts = [await failureOf<AxiosError>(api.get('/bad')), await api.get('/good')].map((value) =>
        consoleLogged(value),
      )
      answer.open()
      await slow
      expectSent(server, 3)
      expectNoCanary(texts.join())
    } finally {
      httpAgent.destroy()
    }
  })

  it('when they go through JSON.stringify while another request is in flight, then no token is visible (F166)', async () => {
    const answer = gate()
    const server = await startApi(async ({ url }) => {
      if (url === '/slow') await answer.opened
      return url === '/bad' ? { status: 500 } : {}
    })
    const httpAgent = new Agent({ keepAlive: true })
    try {
      const { api } = attached(server.baseUrl, { adapter: 'http', httpAgent })
      const slow = api.get('/slow')
      await until(() => server.received.length === 1)
      const error = await failureOf<AxiosError>(api.get('/bad'))
      expectNoCanary(JSON.stringify([error, error.config, error.response?.config]))
      answer.open()
      await slow
      expectSent(server, 2)
    } finally {
      httpAgent.destroy()
    }
  })

  it.each(logs)('when they go through %s with no other request in flight, then no token is visible', async (_, log) => {
    const server = await startApi(({ url }) => (url === '/bad' ? { status: 500 } : {}))
    const httpAgent = new Agent({ keepAlive: true })
    try {
      const { api } = attached(server.baseUrl, { adapter: 'http', httpAgent })
      const texts = [await failureOf<AxiosError>(api.get('/bad')), await api.get('/good')].map(log)
      expectSent(server, 2)
      expectNoCanary(texts.join())
    } finally {
      httpAgent.destroy()
    }
  })
})

describe('given an adapter without request objects', () => {
  it('when its responses are printed, then no token is visible, and they have no request', async () => {
    const { adapter, calls } = inProcess((_, index) => (index === 0 ? 200 : 500))
    const { api } = attached('https://api.example.com', { adapter })
    const response = await api.get('/')
    expect('request' in response).toBe(false)
    expectConcealed(response)
    const error = await failureOf<AxiosError>(api.get('/'))
    expectConcealed(error)
    expectConcealed(error.response!)
    expect(calls.map(({ authorization }) => authorization)).toEqual(Array(2).fill(`Bearer ${MARKED}-1`))
  })

  it('when it returns a copy of the config with its own kind of headers, then the copy shows no token either', async () => {
    const { api } = attached('https://api.example.com', {
      adapter: async (config) => ({
        data: '',
        status: 200,
        statusText: '',
        headers: {},
        config: { ...config, headers: new axios.AxiosHeaders(config.headers) },
      }),
    })
    expectConcealed(await api.get('/'))
  })
})

it('given an adapter whose errors are not extensible, when an error is printed, then no token is visible, and its request is still readable', async () => {
  const request = { authorization: `Bearer ${MARKED}` }
  const boom = Object.preventExtensions(Object.assign(new Error('boom'), { request }))
  const { api } = attached('https://api.example.com', { adapter: () => Promise.reject(boom) })
  expect(await failureOf(api.get('/'))).toBe(boom)
  expectNoCanary(printed(boom))
  expect(boom.request).toBe(request)
})

describe('given the objects that the library itself exposes', () => {
  it('when attachment, anomaly and TokenError are printed, then no token is visible', async () => {
    const server = await startApi(() => rejection)
    const clock = manualClock()
    const api = axios.create({ baseURL: server.baseUrl })
    const { tokens, minted, anomalies } = startTokens({ clock, token: (n) => `${MARKED}-${n}` })
    const attachment = attachBearer(api, tokens)
    await failureOf(api.get('/'))
    await api.get('http://localhost:9/').catch(() => undefined)
    minted.fail(new Error('down'))
    const failed = failureOf(tokens.renew())
    await clock.advance(10_000) // all retries of this renewal
    const error = await failed
    for (const value of [attachment, anomalies, error, tokens]) expectNoCanary(logged(value))
    expectNoCanary(inspect(api, { depth: 6 }))
  })
})
