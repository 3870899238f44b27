import { describe, expect, it } from '@jest/globals'
import axios, { AxiosError, AxiosHeaders, type InternalAxiosRequestConfig } from 'axios'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { detailsOf } from '../../src/core/errors.ts'
import { TokenError, toTokenError } from '../../src/index.ts'
import { logged } from '../support/canary.ts'

const config = {
  url: 'https://tokens.example/hidden-value',
  data: 'client_secret=hidden-value',
  headers: new AxiosHeaders({ Authorization: 'Basic hidden-value' }),
} as InternalAxiosRequestConfig

/** The error that axios rejects with for a response. */
function axiosAnswer(status: number, data: unknown = {}, headers: Record<string, string> = {}): AxiosError {
  const response = { status, statusText: '', data, headers: new AxiosHeaders(headers), config }
  return new AxiosError('hidden-value', 'ERR_BAD_REQUEST', config, {}, response)
}

/** @returns The code, the outcome, and what became of the refresh token. */
const said = (error: TokenError) => {
  const { outcome, refreshToken } = detailsOf(error)
  return [error.code, outcome, refreshToken].join(' ')
}

describe('given a response that a custom source throws (F154)', () => {
  it.each([
    [400, 'ERR_CREDENTIALS_REJECTED rejected ', 'ERR_REFRESH_REJECTED rejected unusable'],
    [401, 'ERR_CREDENTIALS_REJECTED rejected ', 'ERR_REFRESH_REJECTED rejected refused'],
    [403, 'ERR_CREDENTIALS_REJECTED rejected ', 'ERR_REFRESH_REJECTED rejected kept'],
    [404, 'ERR_TOKEN_REQUEST rejected ', 'ERR_TOKEN_REQUEST rejected '],
    [302, 'ERR_TOKEN_REQUEST rejected ', 'ERR_TOKEN_REQUEST rejected '],
    [408, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown ', 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown '],
    [429, 'ERR_THROTTLED deferred ', 'ERR_THROTTLED deferred '],
    [500, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx ', 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx '],
    [503, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx ', 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx '],
    [200, 'ERR_TOKEN_RESPONSE unknown ', 'ERR_TOKEN_RESPONSE unknown '],
  ])('when its status is %i, then an obtain ends in %s, a refresh in %s', (status, obtain, refresh) => {
    const shapes: unknown[] = [
      axiosAnswer(status),
      new Response(null, { status: status === 200 || status >= 300 ? status : 400 }),
      Object.assign(new Error('hidden-value'), { status }),
      Object.assign(new Error('hidden-value'), { statusCode: status }),
      Object.assign(new Error('hidden-value'), { response: { statusCode: status, body: 'hidden-value' } }),
      new Error('outer', { cause: axiosAnswer(status) }),
    ]
    for (const thrown of shapes) {
      const errors = [toTokenError(thrown, 'obtain'), toTokenError(thrown, 'refresh')]
      expect(errors.map(said)).toEqual([obtain, refresh])
      expect(errors.map((error) => error.status)).toEqual([status, status])
      for (const error of errors) expect(logged(error)).not.toContain('hidden-value')
    }
  })

  it.each([
    ['invalid_grant', 'ERR_CREDENTIALS_REJECTED', 'ERR_REFRESH_REJECTED refused'],
    ['invalid_client', 'ERR_CREDENTIALS_REJECTED', 'ERR_CREDENTIALS_REJECTED kept'],
    ['unauthorized_client', 'ERR_CREDENTIALS_REJECTED', 'ERR_REFRESH_REJECTED kept'],
    ['invalid_request', 'ERR_TOKEN_REQUEST', 'ERR_TOKEN_REQUEST kept'],
    ['invalid_scope', 'ERR_TOKEN_REQUEST', 'ERR_REFRESH_REJECTED kept'],
    ['unsupported_grant_type', 'ERR_TOKEN_REQUEST', 'ERR_REFRESH_REJECTED kept'],
  ])('when it has the error %s of RFC 6749, then that overrides its status (F156, F157)', (error, obtain, refresh) => {
    const shapes: unknown[] = [
      axiosAnswer(400, { error, error_description: 'hidden-value' }),
      axiosAnswer(400, JSON.stringify({ error, error_description: 'hidden-value' })),
      // oauth4webapi and openid-client
      Object.assign(new Error('hidden-value', { cause: { error } }), { error, status: 400 }),
      // simple-oauth2, got
      Object.assign(new Error('hidden-value'), { response: { statusCode: 400, body: { error } } }),
      // no status at all
      Object.assign(new Error('hidden-value'), { error }),
    ]
    for (const thrown of shapes) {
      const [cold, warm] = [toTokenError(thrown, 'obtain'), toTokenError(thrown, 'refresh')]
      expect([cold.code, [warm.code, warm.refreshToken].join(' ')]).toEqual([obtain, refresh])
      expect(warm.serviceCode).toBe(error)
      expect(logged(warm)).not.toContain('hidden-value')
    }
  })

  it.each(['timeout', 'constructor', 'hidden_value'])('when it has the error %s, then its status decides', (error) => {
    const answered = toTokenError(axiosAnswer(400, { error }), 'refresh')
    expect(said(answered)).toBe('ERR_REFRESH_REJECTED rejected unusable')
    const alone = toTokenError(Object.assign(new Error('m'), { error }), 'refresh')
    expect(said(alone)).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE unknown ')
    for (const one of [answered, alone]) expect(logged(one)).not.toContain(error)
  })

  it.each([
    [400, undefined, 'ERR_CREDENTIALS_REJECTED rejected '],
    [401, undefined, 'ERR_REFRESH_REJECTED rejected refused'],
    [404, undefined, 'ERR_TOKEN_REQUEST rejected '],
    [407, undefined, 'ERR_TOKEN_REQUEST rejected kept'],
    [425, undefined, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown kept'],
    [500, undefined, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx '],
    [503, undefined, 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx kept'],
    [400, 'invalid_grant', 'ERR_REFRESH_REJECTED rejected refused'],
    [400, 'invalid_client', 'ERR_CREDENTIALS_REJECTED rejected kept'],
    [400, 'slow_down', 'ERR_THROTTLED deferred kept'],
    [400, 'invalid_scope', 'ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx kept'],
  ])('when only a user can obtain, and it is %i %p, then the refresh ends in %s (F196)', (status, error, refresh) => {
    expect(said(toTokenError(axiosAnswer(status, { error }), 'refresh', true))).toBe(refresh)
  })

  it('when a 401 asks for a new authentication, then the client was rejected, and not the refresh token (F157)', () => {
    const challenge = { 'WWW-Authenticate': 'Basic realm="tokens"' }
    const thrown = new Response('unread', { status: 401, headers: challenge })
    expect(said(toTokenError(thrown, 'refresh'))).toBe('ERR_CREDENTIALS_REJECTED rejected kept')
    const bearer = new Response('unread', { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } })
    expect(said(toTokenError(bearer, 'refresh'))).toBe('ERR_REFRESH_REJECTED rejected refused')
  })

  it('when a gateway fails, then its status overrides any error code', () => {
    const thrown = axiosAnswer(503, { error: 'invalid_grant' })
    expect(said(toTokenError(thrown, 'refresh'))).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE unknown-5xx ')
  })

  it.each<[string, unknown]>([
    ['axios', axiosAnswer(429, '', { 'Retry-After': '7' })],
    ['fetch', new Response(null, { status: 429, headers: { 'Retry-After': '7' } })],
    ['Node', { statusCode: 429, headers: { 'retry-after': '7' } }],
    ['got', { response: { statusCode: 429, headers: { 'retry-after': '7' } } }],
    ['an object of its own shape', { status: 429, headers: { 'Retry-After': 7 } }],
    ['an array', { status: 429, headers: { 'retry-after': ['7'] } }],
  ])('when it is throttled, as reported by %s, then Retry-After counts', (_, thrown) => {
    expect(toTokenError(thrown, 'obtain')).toMatchObject({ code: 'ERR_THROTTLED', retryAfterMs: 7_000 })
  })

  it('when Retry-After is a date, then it is measured against the Date of the response, or else ignored', () => {
    const later = { 'Retry-After': 'Thu, 01 Jan 2026 00:00:09 GMT' }
    const dated = axiosAnswer(503, '', { ...later, Date: 'Thu, 01 Jan 2026 00:00:00 GMT' })
    expect(toTokenError(dated, 'obtain').retryAfterMs).toBe(9_000)
    expect(toTokenError(axiosAnswer(503, '', later), 'obtain')).not.toHaveProperty('retryAfterMs')
  })
})

describe('given a failed connection of a custom source (F154)', () => {
  const closedPort = async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    return port
  }

  it.each<[string, (url: string) => Promise<unknown>]>([
    ['axios', (url) => axios.post(url)],
    ['axios with fetch', (url) => axios.post(url, undefined, { adapter: 'fetch' })],
    ['fetch', (url) => fetch(url, { method: 'POST' })],
  ])('when the connection is refused, and %s throws, then nothing was sent', async (_, call) => {
    const thrown: unknown = await call(`http://127.0.0.1:${await closedPort()}/hidden-value`).catch(
      (error: unknown) => error,
    )
    const error = toTokenError(thrown, 'refresh')
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent', retryable: true })
    expect(error.message).toBe('The refresh request of the token source failed (ECONNREFUSED)')
    expect(logged(error)).not.toContain('hidden-value')
  })

  it.each<[string, string, unknown]>([
    ['a reset connection', 'unknown', Object.assign(new Error('m'), { code: 'ECONNRESET' })],
    ['a reset under fetch', 'unknown', new TypeError('fetch failed', { cause: { code: 'UND_ERR_SOCKET' } })],
    ['a browser that is offline', 'unknown', new TypeError('Failed to fetch')],
    ['an abort', 'unknown', new DOMException('m', 'AbortError')],
    ['a page instead of JSON', 'unknown', new SyntaxError('Unexpected token <')],
    ['an unknown host', 'not-sent', new TypeError('fetch failed', { cause: { code: 'ENOTFOUND' } })],
    ['a refused connection, under Bun', 'not-sent', Object.assign(new TypeError('any'), { code: 'ECONNREFUSED' })],
    [
      'several addresses',
      'not-sent',
      new AggregateError([Object.assign(new Error('m'), { code: 'ECONNREFUSED' })], 'm'),
    ],
  ])('when it is %s, then it is retried, and the outcome is %s', (_, outcome, thrown) => {
    expect(toTokenError(thrown, 'refresh')).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome })
  })

  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_SSL_WRONG_VERSION_NUMBER'])(
    'when its address is wrong, as reported by %s, then no later request can help (F195)',
    (code) => {
      const thrown = new TypeError('fetch failed', { cause: { code } })
      expect(toTokenError(thrown, 'obtain')).toMatchObject({ code: 'ERR_TOKEN_REQUEST', retryable: false })
    },
  )
})

describe('given a bug in a custom source (F155)', () => {
  function buggy(): unknown {
    const answer = {} as { token: { access: string } }
    return answer.token.access
  }
  const thrownBy = (run: () => unknown): unknown => {
    try {
      return run()
    } catch (error) {
      return error
    }
  }

  it('when it throws a TypeError, then that is reported at once, with the place and without the message', () => {
    const error = toTokenError(thrownBy(buggy), 'obtain')
    expect(error).toMatchObject({
      code: 'ERR_TOKEN_SOURCE',
      retryable: false,
      outcome: 'unknown',
      message: 'The token source is broken: obtain threw a TypeError; see cause.stack',
    })
    expect((error.cause as Error).stack).toMatch(/^TypeError: \(message withheld[^]*to-token-error\.test\.ts:\d+:\d+/)
  })

  it('when its message looks like a place, then it is not kept', () => {
    const lines = 'x\n    at hidden-value (file:1:1)'
    const error = toTokenError(Object.assign(new TypeError(lines)), 'refresh')
    expect((error.cause as Error).stack).toMatch(/\n {4}at /)
    expect(logged(error)).not.toContain('hidden-value')
  })

  it('when it is what an engine throws for wrong code, then it counts as a bug', () => {
    for (const thrown of [
      new ReferenceError('fetch is not defined'),
      new TypeError('this.fetchToken is not a function'),
      new TypeError("Cannot read properties of undefined (reading 'connection')"),
      new TypeError('Failed to parse URL from x', { cause: { code: 'ERR_INVALID_URL' } }),
      Object.assign(new TypeError('The "url" argument must be a string'), { code: 'ERR_INVALID_ARG_TYPE' }),
    ])
      expect(toTokenError(thrown, 'refresh').code).toBe('ERR_TOKEN_SOURCE')
  })
})

describe('given other thrown values', () => {
  it('when it is a TokenError, then it is passed on unchanged', () => {
    const error = new TokenError('ERR_THROTTLED', 'm')
    expect(toTokenError(error, 'obtain')).toBe(error)
  })

  const hostile = new Proxy(new Error('m'), {
    get: () => {
      throw new Error('hidden-value')
    },
    has: () => {
      throw new Error('hidden-value')
    },
    getPrototypeOf: () => {
      throw new Error('hidden-value')
    },
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['text', 'hidden-value'],
    ['a number', 5],
    ['a function', () => undefined],
    ['an empty object', {}],
    ['an object without a prototype', Object.create(null)],
    ['an error', new Error('hidden-value')],
    ['a range error', new RangeError('hidden-value')],
    ['an error whose members throw when they are read (F171)', hostile],
    ['its own cause', Object.assign(new Error('m'), { cause: hostile })],
    [
      'a list of errors that cannot be read (F171)',
      {
        errors: new Proxy([], {
          get: () => {
            throw new Error('hidden-value')
          },
        }),
      },
    ],
    ['an invalid code', { code: 'hidden-value', name: 'hidden-value' }],
    ['an invalid status', { status: 'hidden-value', statusCode: 7 }],
  ])('when it is %s, then nothing is known of the exchange', (_, thrown) => {
    const error = toTokenError(thrown, 'refresh')
    expect(error).toMatchObject({
      code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
      outcome: 'unknown',
      message: 'The refresh request of the token source failed',
    })
    expect(logged(error)).not.toContain('hidden-value')
  })
})

describe('given a polluted Object.prototype (F163)', () => {
  it.each<[string, unknown]>([
    ['cause', { code: 'ECONNREFUSED' }],
    ['syscall', 'connect'],
    ['status', 401],
    ['response', { status: 401 }],
    ['errors', [{ code: 'ECONNREFUSED' }]],
    ['refreshToken', 'kept'],
    ['outcome', 'not-sent'],
  ])('when it has %s, then that reveals nothing about an error', (name, value) => {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    try {
      expect(said(toTokenError(new Error('m'), 'refresh'))).toBe('ERR_TOKEN_SERVICE_UNAVAILABLE unknown ')
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe('given a source that calls toTokenError itself (F192)', () => {
  it.each([
    ['a response', { status: 503 }],
    ['a failed connection', Object.assign(new Error('m'), { code: 'ECONNREFUSED' })],
    ['a bug', new TypeError('m')],
  ])('when it reads %s, then the stack of the error begins in the source', (_, thrown) => {
    const { stack = '' } = toTokenError(thrown, 'obtain')
    expect(stack.split('\n')[1]).toContain('to-token-error.test')
  })
})
