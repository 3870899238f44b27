import { Readable } from 'node:stream'
import { describe, expect, it } from '@jest/globals'
import { AxiosError, type AxiosAdapter, type InternalAxiosRequestConfig } from 'axios'
import { isTokenError, TokenError } from '../../src/core/errors.ts'
import { answering, failureOf, grantText, obtain, response, sourceBehind } from './world.ts'

const UNAVAILABLE = 'ERR_TOKEN_SERVICE_UNAVAILABLE'

describe('given a custom adapter', () => {
  const text = grantText()
  const bytes = Buffer.from(text)

  it.each<[string, () => unknown]>([
    ['text', () => text],
    ['a Buffer', () => bytes],
    ['a Uint8Array', () => new Uint8Array(bytes)],
    ['a view of a larger buffer', () => Buffer.concat([Buffer.from('xx'), bytes, Buffer.from('yy')]).subarray(2, -2)],
    ['a parsed object', () => JSON.parse(text) as unknown],
    ['a stream', () => Readable.from([bytes.subarray(0, 20), bytes.subarray(20)])],
    ['a stream of strings', () => Readable.from([text.slice(0, 20), text.slice(20)])],
    ['a stream with an encoding', () => Readable.from([bytes], { objectMode: false }).setEncoding('utf8')],
    ['a web stream', () => new Blob([bytes]).stream()],
    ['an async generator', () => parts(text.slice(0, 3), new Uint8Array(bytes.subarray(3)), null, '')],
  ])('when it responds with %s, then the token arrives', async (_, data) => {
    expect((await obtain(sourceBehind(answering(data())))).grant).toEqual({
      accessToken: 'issued-token',
      accessLifetimeMs: 3_599_000,
    })
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['true', true],
    ['an array', [1]],
    ['an empty object', {}],
    ['an empty stream', Readable.from([])],
    ['a function', () => text],
    ['a symbol', Symbol('s')],
  ])('when it responds with %s, then the response is rejected', async (_, data) => {
    expect(await failureOf(obtain(sourceBehind(answering(data))))).toMatchObject({
      code: 'ERR_TOKEN_RESPONSE',
      outcome: 'unknown',
    })
  })

  it.each<[string, () => unknown]>([
    [
      'an object that contains itself',
      () => {
        const own: { own?: unknown } = {}
        own.own = own
        return own
      },
    ],
    ['a bigint', () => ({ data: 1n })],
    [
      'an object that throws when it is read',
      () => ({
        get data() {
          throw new Error('read')
        },
      }),
    ],
    ['a stream that breaks', () => parts('{', new Error('broken'))],
  ])('when it responds with %s, then nothing is known', async (_, data) => {
    const error = await failureOf(obtain(sourceBehind(answering(data()))))
    expect(error).toMatchObject({ outcome: 'unknown', retryable: true })
    expect(isTokenError(error)).toBe(true)
  })

  it.each<[string, unknown]>([
    ['text', 'thrown'],
    ['undefined', undefined],
    ['null', null],
    ['an object', { message: 'thrown' }],
    ['an Error', new Error('thrown')],
    ['an Error with a number as code', Object.assign(new Error('thrown'), { code: 5 })],
    [
      'an Error that causes itself',
      (() => {
        const own = new Error('thrown')
        own.cause = own
        return own
      })(),
    ],
    ['a TokenError of its own', new TokenError('ERR_CLOSED', 'thrown')],
  ])('when it throws %s, then nothing is known', async (_, thrown) => {
    const error = await failureOf(obtain(sourceBehind(() => Promise.resolve().then(() => raise(thrown)))))
    expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown', retryable: true })
    expect(error.message).toMatch(/^https:\/\/tokens\.example\/api\/token\/ did not respond \([\w ]+\)$/)
    expect(error.message).not.toContain('thrown')
  })

  it.each([new TypeError('hidden'), new ReferenceError('hidden')])(
    'when it has a bug (%s), then the message names its kind, and nothing else of it',
    async (bug) => {
      const error = await failureOf(obtain(sourceBehind(() => Promise.reject(bug))))
      expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown', retryable: true })
      expect(error.message).toMatch(new RegExp(`did not respond \\(${bug.name}\\)$`))
    },
  )

  it('when it throws synchronously, then nothing is known', async () => {
    const adapter: AxiosAdapter = () => {
      throw new Error('at once')
    }
    expect(await failureOf(obtain(sourceBehind(adapter)))).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown' })
  })

  it.each([
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('when it fails with %s, at any depth, then nothing was sent (F22)', async (code) => {
    const known = Object.assign(new Error('known'), { code })
    for (const thrown of [known, new Error('outer', { cause: known }), wrapped(known)]) {
      const error = await failureOf(obtain(sourceBehind(() => Promise.reject(thrown))))
      expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'not-sent', retryable: true })
      expect(error.message).toMatch(new RegExp(` could not be reached \\(${code}\\)(: .*)?$`))
    }
  })

  it.each([
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ])(
    'when it fails with %s, at any depth, then nothing was sent, and no later request can help (F195)',
    async (code) => {
      const known = Object.assign(new Error('known'), { code })
      for (const thrown of [known, new Error('outer', { cause: known }), wrapped(known)]) {
        const error = await failureOf(obtain(sourceBehind(() => Promise.reject(thrown))))
        expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'not-sent', retryable: false })
      }
    },
  )

  it.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ECONNRESET', 'EADDRNOTAVAIL'])(
    'when connecting fails with %s, then nothing was sent, and otherwise nothing is known',
    async (code) => {
      const connecting = Object.assign(new Error('known'), { code, syscall: 'connect' })
      const reading = Object.assign(new Error('known'), { code, syscall: 'read' })
      expect(await failureOf(obtain(sourceBehind(() => Promise.reject(connecting))))).toMatchObject({
        outcome: 'not-sent',
      })
      expect(await failureOf(obtain(sourceBehind(() => Promise.reject(reading))))).toMatchObject({ outcome: 'unknown' })
    },
  )

  it.each([
    'EPIPE',
    'ECONNABORTED',
    'ETIMEDOUT',
    'ERR_NETWORK',
    'ERR_CANCELED',
    'HPE_INVALID_CONSTANT',
    'UND_ERR_SOCKET',
  ])('when it fails with %s, then nothing is known', async (code) => {
    const error = await failureOf(obtain(sourceBehind(() => Promise.reject(Object.assign(new Error(), { code })))))
    expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown' })
    expect(error.message).toContain(`(${code})`)
  })

  it('when a stream breaks with an error code of an unsent request, then nothing is known: the response had begun', async () => {
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', syscall: 'connect' })
    const error = await failureOf(obtain(sourceBehind(answering(parts('{', refused)))))
    expect(error).toMatchObject({ code: UNAVAILABLE, outcome: 'unknown', status: 200 })
  })

  it('when it applies validateStatus, then an error response is read like any other', async () => {
    const adapter: AxiosAdapter = async (config) => {
      const answer = response(config, '{"code":"2006"}', 400)
      if (!config.validateStatus || config.validateStatus(400)) return answer
      throw new AxiosError('refused', 'ERR_BAD_REQUEST', config, undefined, answer)
    }
    expect(await failureOf(obtain(sourceBehind(adapter)))).toMatchObject({
      code: 'ERR_CREDENTIALS_REJECTED',
      serviceCode: '2006',
    })
  })

  it('when it reads the request, then it finds what would be sent', async () => {
    const configs: InternalAxiosRequestConfig[] = []
    const source = sourceBehind((config) => {
      configs.push(config)
      return Promise.resolve(response(config, grantText()))
    })
    await obtain(source)
    expect(configs).toHaveLength(1)
    expect(configs[0]).toMatchObject({
      method: 'post',
      url: 'https://tokens.example/api/token/',
      maxRedirects: 0,
      // Without this, the fetch adapter of older axios follows redirects.
      fetchOptions: { redirect: 'manual' },
    })
    expect(JSON.parse(configs[0]!.data as string)).toHaveProperty('data.attributes.client_id')
  })
})

describe('given a custom adapter that rejects every status other than 2xx', () => {
  const rejecting = (status: number, data: unknown) =>
    sourceBehind((config: InternalAxiosRequestConfig) => {
      const answer = response(config, data, status)
      return Promise.reject(new AxiosError(`Request failed with status code ${status}`, 'ERR_BAD', config, {}, answer))
    })

  it.each([
    [400, 'ERR_CREDENTIALS_REJECTED', 'rejected'],
    [429, 'ERR_THROTTLED', 'deferred'],
    [503, 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx'],
  ])('when the response is a complete %i, then its status counts', async (status, code, outcome) => {
    expect(await failureOf(obtain(rejecting(status, '{}')))).toMatchObject({ status, code, outcome })
  })

  it('when its data never arrived, then nothing is known', async () => {
    expect(await failureOf(obtain(rejecting(400, undefined)))).toMatchObject({ outcome: 'unknown', code: UNAVAILABLE })
  })
})

describe('given adapter names', () => {
  it.each([['nobody-knows-it'], [['nobody-knows-it']], [['xhr']]])(
    'when they are %j, then the request fails',
    async (adapter) => {
      expect(await failureOf(obtain(sourceBehind(adapter as never)))).toMatchObject({ code: UNAVAILABLE })
    },
  )
})

function raise(thrown: unknown): never {
  throw thrown as Error
}

function wrapped(known: Error): Error {
  return Object.assign(new AxiosError('Network Error', 'ERR_NETWORK'), { cause: new Error('middle', { cause: known }) })
}

async function* parts(...given: unknown[]): AsyncGenerator {
  for (const part of given) {
    if (part instanceof Error) throw part
    yield part
  }
}
