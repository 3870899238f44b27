import { describe, expect, it } from '@jest/globals'
import { openAsBlob } from 'node:fs'
import { Readable } from 'node:stream'
import { runInNewContext } from 'node:vm'
import { withBearer } from '../../src/fetch/index.ts'
import { rejecting, startApi } from '../axios/support/api-server.ts'
import { startTokens } from '../axios/support/tokens.ts'
import { arrivalOf } from './arrivals.ts'

type Shape = (url: string) => unknown[] | Promise<unknown[]>

const bytes = () => Uint8Array.from({ length: 256 }, (_, n) => n)
const posted =
  (body: unknown, more: object = {}): Shape =>
  (url) => [url, { method: 'POST', body, ...more }]
const made =
  (body: () => unknown, more: object = {}): Shape =>
  (url) =>
    posted(body(), more)(url)
const headed =
  (headers: () => unknown): Shape =>
  (url) => [url, { method: 'POST', body: 'x', headers: headers() }]
const foreign = (expression: string): unknown => runInNewContext(expression)
const form = (one = new FormData()) => {
  one.append('a', 'b ü')
  one.append('a', 'c')
  one.append('file', new File(['of the file'], 'name.txt', { type: 'text/plain' }))
  one.append('blob', new Blob(['of the blob']))
  return one
}
function* pairs() {
  yield ['X-Tenant', 'alice']
  yield ['Idempotency-Key', '1']
}

class Settings {
  readonly #method = 'PUT'
  readonly body = 'of a class'
  get method() {
    return this.#method
  }
  get headers() {
    return { 'x-tenant': 'alice' }
  }
}
class OwnRequest extends Request {
  readonly tenant = 'alice'
}
class OwnForm extends FormData {
  constructor(first: string) {
    super()
    this.set('first', first.toUpperCase())
  }
}
class OwnUrl extends URL {}
class OwnParams extends URLSearchParams {}
class OwnHeaders {
  [Symbol.iterator] = pairs
}
class Endpoint {
  readonly #url: string
  readonly url = 'https://elsewhere.example/'
  constructor(url: string) {
    this.#url = url
  }
  clone() {
    return this
  }
  toString() {
    return this.#url
  }
}

/** What users pass to fetch, and what they pass by mistake. */
const SHAPES: Record<string, Shape> = {
  // Addresses
  'a text': (url) => [url],
  'a text with a query and a fragment': (url) => [`${url}/a b?c=d e#f`],
  'a text that is not normal': (url) => [`  ${url.replace('http', 'HTTP')}/a/../b`],
  'a text of a class': (url) => [Object(url) as unknown],
  'a URL': (url) => [new URL(`${url}/a?b=c`)],
  'a URL of a class': (url) => [new OwnUrl(url)],
  'an object with a text': (url) => [{ toString: () => url }],
  'an object with a text, and with the members of a Request': (url) => [new Endpoint(url)],
  'an object without a text': () => [{ url: 'https://elsewhere.example/' }],
  'no address': () => [],
  null: () => [null],
  'a number': () => [5],
  'a symbol': () => [Symbol('address')],
  // Requests
  'a Request': (url) => [new Request(url, { headers: { 'x-tenant': 'alice' } })],
  'a Request of a class': (url) => [new OwnRequest(url, { method: 'POST', body: 'x' })],
  'a Request with a text': (url) => [new Request(url, { method: 'PUT', body: 'x' })],
  'a Request with bytes': (url) => [new Request(url, { method: 'POST', body: bytes() })],
  'a Request with a form': (url) => [new Request(url, { method: 'POST', body: form() })],
  'a Request with a stream': (url) => [
    new Request(url, { method: 'POST', body: new Blob(['x']).stream(), duplex: 'half' }),
  ],
  'a Request, and a body in `init`': (url) => [new Request(url, { method: 'POST', body: 'x' }), { body: 'y' }],
  'a Request, and headers in `init`': (url) => [
    new Request(url, { method: 'POST', body: 'x', headers: { 'x-tenant': 'alice' } }),
    { headers: { 'x-other': '1' } },
  ],
  'a Request, and an empty `init`': (url) => [new Request(url, { headers: { 'x-tenant': 'alice' } }), {}],
  'a Request that was used': async (url) => {
    const request = new Request(url, { method: 'POST', body: 'x' })
    await request.text()
    return [request]
  },
  'a Request that was used, and a body in `init`': async (url) => {
    const request = new Request(url, { method: 'POST', body: 'x' })
    await request.text()
    return [request, { body: 'y' }]
  },
  'a Proxy of a Request': (url) => [new Proxy(new Request(url), {})],
  'a Request in the place of `init`': (url) => [
    `${url}/2`,
    new Request(url, { method: 'POST', body: 'x', headers: { a: '1' } }),
  ],
  // init
  'null for `init`': (url) => [url, null],
  'a frozen `init`': (url) => [url, Object.freeze({ method: 'POST', body: 'x', headers: Object.freeze({ a: '1' }) })],
  'an `init` without a prototype': (url) => [
    url,
    Object.assign(Object.create(null) as object, { method: 'POST', body: 'x' }),
  ],
  'an `init` of a class with getters': (url) => [url, new Settings()],
  'an `init` that inherits': (url) => [
    url,
    Object.create({ method: 'POST', body: 'x', headers: { a: '1' } }) as object,
  ],
  'a Proxy of an `init`': (url) => [url, new Proxy({ method: 'POST', body: 'x' }, {})],
  'an `init` of another realm': (url) => [url, foreign('({ method: "POST", body: "x", headers: { a: "1" } })')],
  'a text for `init`': (url) => [url, 'POST'],
  'a method in small letters': (url) => [url, { method: 'post', body: 'x' }],
  'a method of its own': (url) => [url, { method: 'Mix' }],
  'a method that is forbidden': (url) => [url, { method: 'TRACE' }],
  'GET with a body': (url) => [url, { body: 'x' }],
  keepalive: posted('x', { keepalive: true }),
  'members that say how': (url) => [
    url,
    { cache: 'no-store', credentials: 'omit', redirect: 'error', referrer: '', integrity: '' },
  ],
  'a signal': (url) => [url, { signal: new AbortController().signal }],
  'a signal that is null': (url) => [new Request(url, { signal: AbortSignal.abort() }), { signal: null }],
  // Headers
  'a record': headed(() => ({ 'X-Tenant': 'alice', 'Idempotency-Key': '1' })),
  'a record without a prototype': headed(() => Object.assign(Object.create(null) as object, { 'X-Tenant': 'alice' })),
  'a record of another realm': headed(() => foreign('({ "x-tenant": "alice" })')),
  'a record of JSON': headed(() => JSON.parse('{"__proto__":"1","x-tenant":"alice"}') as unknown),
  'a record with numbers and lists': headed(() => ({ n: 5, list: ['a', 'b'], none: undefined, nothing: null })),
  'a record with a type of its own': headed(() => ({ 'content-type': 'application/json' })),
  pairs: headed(() => [...pairs(), ['x-tenant', 'bob']]),
  'pairs of another realm': headed(() => foreign('[["x-tenant", "alice"]]')),
  Headers: headed(() => new Headers({ 'X-Tenant': 'alice' })),
  'the entries of Headers': headed(() => new Headers({ 'x-tenant': 'alice', b: '2' }).entries()),
  'a Map': headed(() => new Map([['X-Tenant', 'alice']])),
  'the entries of a Map': headed(() => new Map([['X-Tenant', 'alice']]).entries()),
  'a generator': headed(pairs),
  'an object with an iterator': headed(() => new OwnHeaders()),
  'a plain object with an iterator': headed(() => ({ [Symbol.iterator]: pairs })),
  'a Proxy of a record': headed(() => new Proxy({ 'x-tenant': 'alice' }, {})),
  'no headers: null': headed(() => null),
  'no headers: a text': headed(() => 'X-Tenant: alice'),
  'a name that is none': headed(() => ({ 'a b': '1' })),
  'a value with a line end': headed(() => ({ a: '1\r\nb: 2' })),
  'pairs that are none': headed(() => [['a']]),
  // Bodies
  'an empty text': posted(''),
  'a text beyond ASCII': posted('ü €\ud800'),
  'a text object': made(() => Object('x') as unknown),
  'a number as body': posted(5),
  'an array as body': posted([1, 2]),
  'an object as body': posted({ a: 1 }),
  'null as body': posted(null),
  bytes: made(bytes),
  'a part of bytes': made(() => bytes().subarray(3, 9)),
  'a Buffer': made(() => Buffer.from('x ü')),
  'a DataView': made(() => new DataView(bytes().buffer, 2, 5)),
  numbers: made(() => Float64Array.of(1, 2.5)),
  'an ArrayBuffer': made(() => bytes().buffer),
  'an ArrayBuffer of another realm': made(() => foreign('new Uint8Array([1, 2]).buffer')),
  'bytes of another realm': made(() => foreign('new Uint8Array([1, 2])')),
  URLSearchParams: made(() => new URLSearchParams('a=b+c&a=d&ü=%26')),
  'URLSearchParams of a class': made(() => new OwnParams('a=b')),
  'URLSearchParams, and a type of its own': made(() => new URLSearchParams('a=b'), {
    headers: { 'Content-Type': 'x/y' },
  }),
  FormData: made(form),
  'FormData of a class': made(() => form(new OwnForm('first'))),
  'a Blob': made(() => new Blob([bytes()], { type: 'Image/PNG' })),
  'a File (F267)': made(() => new File([bytes()], 'name.bin', { type: 'text/plain' })),
  'a File without a type (F267)': made(() => new File(['x'], 'name.bin')),
  'a file of the disk (F267)': async (url) => posted(await openAsBlob('LICENSE'))(url),
  'a stream': made(() => new Blob(['x']).stream(), { duplex: 'half' }),
  'a generator as body': made(
    async function* () {
      yield await Promise.resolve(Buffer.from('x'))
    }.bind(undefined),
    { duplex: 'half' },
  ),
  'a stream of Node': made(() => Readable.from([Buffer.from('x')]), { duplex: 'half' }),
}
/** Their bodies can be sent only once, or must be. */
const ONCE = /stream of|^a stream|generator as body|keepalive|object as body|array as body|text object|in the place of/

/** A header of its own, in each form. Such a call is left unchanged. */
const OWN: Record<string, () => unknown> = {
  'a record': () => ({ AUTHORIZATION: 'Own 1' }),
  pairs: () => [['Authorization', 'Own 1']],
  Headers: () => new Headers({ authorization: 'Own 1' }),
  'the entries of a Map': () => new Map([['Authorization', 'Own 1']]).entries(),
  'a Map': () => new Map([['Authorization', 'Own 1']]),
}

type AnyFetch = (...given: unknown[]) => Promise<Response>
const outcomeOf = (sending: Promise<Response>) =>
  sending.then(
    ({ status }) => status as number | string,
    (error: unknown) => (error as Error).name,
  )

async function plain(shape: Shape) {
  const server = await startApi()
  const outcome = await outcomeOf((fetch as AnyFetch)(...(await shape(server.baseUrl))))
  return { outcome, arrivals: server.received.map(arrivalOf) }
}

describe('given a call of any shape', () => {
  it.each(Object.entries(SHAPES))(
    'when it is %s, then the request is that of fetch itself: at once, after a wait, after a 401, and to another origin (F261, F262, F265)',
    async (name, shape) => {
      const expected = await plain(shape)
      for (const moment of ['at once', 'after a wait', 'after a 401', 'elsewhere'] as const) {
        const isRejected = moment === 'after a 401'
        const server = await startApi(isRejected ? rejecting('token-1') : undefined)
        const { tokens, minted } = startTokens()
        if (moment === 'after a wait') minted.hold()
        else await tokens.getAccessToken()
        const origins = [moment === 'elsewhere' ? 'https://api.example.com' : server.baseUrl]
        const sent = outcomeOf((withBearer(fetch, tokens, { origins }) as AnyFetch)(...(await shape(server.baseUrl))))
        minted.release()
        const isReplayed = isRejected && !ONCE.test(name)
        const outcome = isRejected && !isReplayed && expected.outcome === 200 ? 401 : expected.outcome
        const arrivals = isReplayed ? [...expected.arrivals, ...expected.arrivals] : expected.arrivals
        expect({ moment, outcome: await sent, arrivals: server.received.map(arrivalOf) }).toEqual({
          moment,
          outcome,
          arrivals,
        })
        const bearers = moment === 'elsewhere' ? [undefined] : ['Bearer token-1', 'Bearer token-2']
        expect(server.bearers).toEqual(bearers.slice(0, arrivals.length))
      }
    },
  )

  it.each(Object.entries(OWN))(
    'when it has a header of its own in %s, then it is left unchanged (F265)',
    async (_, headers) => {
      const server = await startApi(() => ({ status: 401 }))
      const { tokens, minted } = startTokens()
      const init = { headers: headers() as HeadersInit }
      expect((await withBearer(fetch, tokens, { origins: [server.baseUrl] })(server.baseUrl, init)).status).toBe(401)
      expect([server.bearers, minted.calls]).toEqual([['Own 1'], 0])
    },
  )
})
type HeadersInit = NonNullable<RequestInit['headers']>
