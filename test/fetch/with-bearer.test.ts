import { describe, expect, it, jest } from '@jest/globals'
import { Readable } from 'node:stream'
import { withBearer } from '../../src/fetch/index.ts'
import { isTokenError, TokenError } from '../../src/index.ts'
import { rejecting, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { failureOf, until } from '../axios/support/turns.ts'

const origins = ['https://api.example.com']
const there = `${origins[0]}/x`

/** A fetch without a network: what it was called with, and its responses in turn (default 200). */
function recording(...responses: (Response | Error)[]) {
  const calls: { input: unknown; init: Record<string, unknown>; headers: Headers; body: Promise<string> }[] = []
  const inner = jest.fn(async (input: string | URL | Request, init?: RequestInit) => {
    // As in a platform: the body of a Request is read.
    const request = new Request(input, init)
    calls.push({ input, init: (init ?? {}) as never, headers: request.headers, body: request.text() })
    await calls.at(-1)!.body
    const answer = responses.shift() ?? new Response('ok')
    if (answer instanceof Error) throw answer
    return answer
  })
  return { inner, calls, bearers: () => calls.map(({ headers }) => headers.get('authorization')) }
}
const refused = (headers?: HeadersInit_) => new Response('refused', { status: 401, ...(headers && { headers }) })
type HeadersInit_ = Record<string, string>

describe('given an available token', () => {
  it('when fetch is called, then the inner one is called synchronously, and its own response is returned', async () => {
    const { tokens } = startTokens()
    await tokens.getAccessToken()
    const answer = new Response('ok')
    const inner = jest.fn((_: string, init?: RequestInit) => Promise.resolve(init ? answer : Response.error()))
    const sent = withBearer(inner, tokens, { origins })(there)
    expect(inner).toHaveBeenCalledTimes(1)
    expect(await sent).toBe(answer)
  })

  it('when `init` has members of a framework, then all of them are passed on, and the object of the caller stays unchanged', async () => {
    const { inner, calls } = recording()
    const marked = Symbol('marked')
    const next = { revalidate: 5 }
    class Options {
      next = next
      cf = { cacheTtl: 1 };
      [marked] = 1
      get cache() {
        return 'no-store' as const
      }
    }
    const init = new Options()
    await withBearer(inner, startTokens().tokens, { origins })(there, init as RequestInit)
    const { init: given } = calls[0]!
    expect([given.next, given.cf, given.cache, Reflect.get(given, marked)]).toEqual([
      next,
      { cacheTtl: 1 },
      'no-store',
      1,
    ])
    expect(given.next).toBe(next)
    expect(Object.keys(init)).toEqual(['next', 'cf'])
  })

  it('when `init` is null, which fetch treats as absent, then the request has the token', async () => {
    const { inner, bearers } = recording()
    expect((await withBearer(inner, startTokens().tokens, { origins })(there, null as never)).status).toBe(200)
    expect(bearers()).toEqual(['Bearer token-1'])
  })

  it.each<[string, unknown]>([
    ['a plain object', { 'x-a': '1' }],
    ['pairs', [['x-a', '1']]],
    ['Headers', new Headers({ 'x-a': '1' })],
  ])('when the headers are %s, then they are sent, and stay unchanged', async (_, headers) => {
    const { inner, calls } = recording()
    await withBearer(inner, startTokens().tokens, { origins })(there, { headers: headers as HeadersInit_ })
    expect(Object.fromEntries(calls[0]!.headers)).toEqual({ 'x-a': '1', authorization: 'Bearer token-1' })
    expect([...new Headers(headers as HeadersInit_).keys()]).toEqual(['x-a'])
  })
})

describe('given the bodies that users send', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
  it.each<[string, () => BodyInit_]>([
    ['a string', () => 'text ü'],
    ['bytes', () => bytes],
    ['an ArrayBuffer', () => bytes.buffer],
    ['a Blob', () => new Blob([bytes])],
    ['URLSearchParams', () => new URLSearchParams({ a: 'b c' })],
    ['an empty string', () => ''],
  ])('when the API rejects a token for %s, then the same bytes are sent again', async (_, body) => {
    for (const inRequest of [false, true]) {
      const server = await startApi(rejecting('token-1'))
      const api = withBearer(fetch, startTokens().tokens, { origins: [server.baseUrl] })
      const init = { method: 'POST', body: body() }
      const { status } = await (inRequest ? api(new Request(server.baseUrl, init)) : api(server.baseUrl, init))
      const [one, two] = server.received
      expect([status, server.bearers]).toEqual([200, ['Bearer token-1', 'Bearer token-2']])
      expect(two!.body.equals(one!.body)).toBe(true)
      expect(two!.headers['content-type']).toBe(one!.headers['content-type'])
    }
  })
  type BodyInit_ = string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob | URLSearchParams

  it('when it is FormData, then its fields are sent again', async () => {
    const server = await startApi(rejecting('token-1'))
    const body = new FormData()
    body.set('field', 'wert ü')
    await withBearer(fetch, startTokens().tokens, { origins: [server.baseUrl] })(server.baseUrl, {
      method: 'POST',
      body,
    })
    expect(server.received.map((one) => one.body.toString().includes('wert ü'))).toEqual([true, true])
  })

  it('when it is a stream, then it is sent once, its 401 is returned, and the next request has another token', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    const { inner, calls } = recording(refused())
    const api = withBearer(inner, tokens, { origins })
    const init = { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' }
    expect((await api(there, init as RequestInit)).status).toBe(401)
    expect([calls.length, calls[0]!.init.duplex]).toEqual([1, 'half'])
    await until(() => minted.calls === 2)
  })

  it('when the fetch of Node hides the 401 to a stream, then the caller gets the error, and the next request has another token', async () => {
    const { tokens, minted } = startTokens()
    await tokens.getAccessToken()
    const cause = new Error('expected non-null body source')
    const hidden = new TypeError('fetch failed', { cause })
    const { inner, calls } = recording(hidden)
    const init = { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' }
    expect(await failureOf(withBearer(inner, tokens, { origins })(there, init as RequestInit))).toBe(hidden)
    expect(calls).toHaveLength(1)
    await until(() => minted.calls === 2)
  })

  it('when the Request was used, then the call rejects and does not throw', async () => {
    const server = await startApi()
    const request = new Request(server.baseUrl, { method: 'POST', body: 'x' })
    await request.text()
    const { tokens } = startTokens()
    await tokens.getAccessToken()
    const error = await failureOf(withBearer(fetch, tokens, { origins: [server.baseUrl] })(request))
    expect(error.name).toBe('TypeError')
  })
})

describe('given requests that must not be replayed or changed', () => {
  it('when `keepalive` is set, then a 401 is returned, and the next request has another token', async () => {
    for (const asRequest of [false, true]) {
      const { tokens, minted } = startTokens()
      const { inner, calls } = recording(refused())
      const api = withBearer(inner, tokens, { origins })
      const init = { method: 'POST', body: 'x', keepalive: true }
      const { status } = await (asRequest ? api(new Request(there, init)) : api(there, init))
      expect([status, calls.length]).toEqual([401, 1])
      await until(() => minted.calls === 2)
    }
  })

  it.each<[string, string, object]>([
    ['a header of its own', there, { headers: { AUTHORIZATION: 'Own 1' } }],
    ['the mode no-cors', there, { mode: 'no-cors' }],
    ['another origin', 'https://other.example/x', {}],
    ['http instead of https', 'http://api.example.com/x', {}],
    ['an invalid URL', '/relative', {}],
    ['a user in its URL', 'https://u:p@api.example.com/x', {}],
  ])('when a call has %s, then the inner fetch receives exactly that, 401 included', async (_, url, init) => {
    const { tokens, minted } = startTokens()
    const inner = jest.fn<(input: string, init?: object) => Promise<Response>>(() => Promise.resolve(refused()))
    expect((await withBearer(inner, tokens, { origins })(url, init)).status).toBe(401)
    expect(inner.mock.calls).toEqual([[url, init]])
    expect(inner.mock.calls[0]![1]).toBe(init)
    expect(minted.calls).toBe(0)
  })

  it('when a request is sent to another origin, then it is reported once', async () => {
    const { tokens, anomalies } = startTokens()
    const api = withBearer(recording().inner, tokens, { origins })
    await api('https://other.example/1')
    await api('https://other.example/2')
    expect(anomalies).toMatchObject([
      { kind: 'origin-not-allowed', message: expect.stringContaining('https://other.example') },
    ])
  })
})

describe('given a caller that waits for a token', () => {
  it('when its signal is that of a polyfill, as in React Native, then the request succeeds, or its wait ends (F94)', async () => {
    const { inner, bearers } = recording()
    const { tokens, minted } = startTokens()
    minted.hold()
    // Those fetches accept such a signal; that of Node does not.
    const api = withBearer((input: string, { signal: _, ...init }) => inner(input, init as RequestInit), tokens, {
      origins,
    })
    const polyfill = () => Object.assign(new EventTarget(), { aborted: false })
    const [used, aborted] = [polyfill(), polyfill()]
    const [one, two] = [api(there, { signal: used }), failureOf(api(there, { signal: aborted }))]
    aborted.aborted = true
    aborted.dispatchEvent(new Event('abort'))
    expect(await two).toMatchObject({ name: 'AbortError' })
    minted.release()
    expect((await one).status).toBe(200)
    expect(bearers()).toEqual(['Bearer token-1'])
  })

  it('when its signal is aborted, then its own wait ends with its own reason', async () => {
    const { tokens, minted } = startTokens()
    minted.hold()
    const { inner, calls } = recording()
    const api = withBearer(inner, tokens, { origins })
    const controller = new AbortController()
    const reason = new Error('enough')
    const others = [api(there), api(new Request(there))]
    const one = failureOf(api(there, { signal: controller.signal }))
    const two = failureOf(api(new Request(there, { signal: controller.signal })))
    controller.abort(reason)
    expect([await one, await two]).toEqual([reason, reason])
    expect(calls).toHaveLength(0)
    minted.release()
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([200, 200])
    expect(minted.calls).toBe(1)
  })

  it('when no token can be obtained, then each caller gets an error of its own, and nothing is sent', async () => {
    const { tokens, minted } = startTokens()
    minted.fail(new TokenError('ERR_CREDENTIALS_REJECTED', 'wrong'))
    const { inner, calls } = recording()
    const api = withBearer(inner, tokens, { origins })
    const [one, two] = await Promise.all([failureOf(api(there)), failureOf(api(there))])
    expect([isTokenError(one, 'ERR_CREDENTIALS_REJECTED'), one === two, calls.length]).toEqual([true, false, 0])
  })
})

describe('given responses that reject the token', () => {
  it('when the replay is sent, then the body of the 401 has been cancelled', async () => {
    const answer = refused()
    const { inner, bearers } = recording(answer)
    await withBearer(inner, startTokens().tokens, { origins })(there)
    expect(bearers()).toEqual(['Bearer token-1', 'Bearer token-2'])
    // A cancelled body is at its end.
    expect(await answer.text().catch(() => 'gone')).not.toBe('refused')
  })

  it('when the fetch has Node streams as bodies, then the body of the 401 is cancelled too', async () => {
    const body = Readable.from(['refused'])
    const responses = [{ status: 401, headers: new Headers(), body } as unknown as Response, new Response('ok')]
    const inner = jest.fn((_: string, init?: RequestInit) =>
      Promise.resolve(init ? responses.shift()! : Response.error()),
    )
    expect((await withBearer(inner, startTokens().tokens, { origins })(there)).status).toBe(200)
    expect([inner.mock.calls.length, body.destroyed]).toEqual([2, true])
  })

  it.each(['insufficient_scope', 'insufficient_user_authentication'])(
    'when its challenge is %s, then nothing is renewed and the caller gets the response, readable (F223)',
    async (error) => {
      const { tokens, minted } = startTokens()
      const { inner, calls } = recording(refused({ 'WWW-Authenticate': `Bearer error="${error}"` }))
      const response = await withBearer(inner, tokens, { origins })(there, { method: 'POST', body: 'x' })
      expect([response.status, await response.text(), calls.length, minted.calls]).toEqual([401, 'refused', 1, 1])
    },
  )

  it('when `refuses` names another status, then that one is replayed', async () => {
    const { inner, calls } = recording(new Response('', { status: 419 }))
    const api = withBearer(inner, startTokens().tokens, { origins, refuses: ({ status }) => status === 419 })
    expect([(await api(there)).status, calls.length]).toEqual([200, 2])
  })

  it('when a redirect led to another origin, then `refuses` is not called for its response', async () => {
    const other = await startApi(() => ({ status: 401 }))
    const server = await startApi(() => ({ status: 302, headers: { Location: other.baseUrl } }))
    const asked: string[] = []
    const refuses = ({ url }: Response) => asked.push(url) > 0
    const api = withBearer(fetch, startTokens().tokens, { origins: [server.baseUrl], refuses })
    expect([(await api(server.baseUrl)).status, asked]).toEqual([401, []])
  })

  it('when the token is in another header, then no redirect is followed', async () => {
    const other = await startApi()
    const server = await startApi(() => ({ status: 302, headers: { Location: other.baseUrl } }))
    const api = withBearer(fetch, startTokens().tokens, { origins: [server.baseUrl], header: 'X-Token', scheme: '' })
    expect((await api(server.baseUrl)).status).toBe(302)
    expect([server.received[0]!.headers['x-token'], other.received]).toEqual(['token-1', []])
  })
})

describe('given invalid arguments', () => {
  const { tokens } = startTokens()
  it.each<[string, () => unknown, RegExp]>([
    [
      'a fetch that is not a function',
      () => withBearer('fetch' as never, tokens, { origins }),
      /fetch must be a function, got string/,
    ],
    ['no manager', () => withBearer(fetch, undefined as never, { origins }), /tokens must be an object/],
    ['a source', () => withBearer(fetch, { obtain: () => 1 } as never, { origins }), /pass createTokenManager/],
    ['no origins outside a page', () => withBearer(fetch, tokens, {}), /No origin is known .*: pass origins/],
    [
      'a path in an origin',
      () => withBearer(fetch, tokens, { origins: ['https://a.example/x'] }),
      /origins takes no path/,
    ],
    ['http', () => withBearer(fetch, tokens, { origins: ['http://a.example'] }), /origins must be https/],
    ['an unknown option', () => withBearer(fetch, tokens, { origin: 'x' } as never), /no 'origin'/],
    [
      'a refuses that is not a function',
      () => withBearer(fetch, tokens, { origins, refuses: true as never }),
      /refuses must be/,
    ],
  ])('when it is %s, then wrapping throws and names it', (_, act, message) => {
    expect(act).toThrow(TypeError)
    expect(act).toThrow(message)
  })

  it('when the inner fetch throws, then the call rejects', async () => {
    const thrown = new Error('broken')
    const inner = (): Promise<Response> => {
      throw thrown
    }
    expect(await failureOf(withBearer(inner, tokens, { origins })())).toBeInstanceOf(Error)
  })
})
