import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import nock from 'nock'
import { ADAPTERS, answering, client, failureOf, grantText, obtain, sourceAt, sourceBehind } from './world.ts'

const HOST = 'https://tokens.example'
const ADDRESS = `${HOST}/api/token/`

beforeAll(() => {
  nock.disableNetConnect()
})

afterEach(() => {
  nock.abortPendingRequests()
  nock.cleanAll()
})

afterAll(() => {
  nock.enableNetConnect()
  nock.restore()
})

const answered = (status: number, body: string | Buffer = '', headers: Record<string, string> = {}) =>
  nock(HOST).post('/api/token/').reply(status, body, headers)

describe.each(ADAPTERS)('given the table of section 7.1, and the %s adapter', (adapter) => {
  const exchange = () => obtain(sourceAt(`${HOST}/api`, { adapter }))

  it('when the service returns 200, then the token and its lifetime arrive', async () => {
    answered(200, grantText(), { 'Content-Type': 'application/vnd.api+json' })
    expect(await exchange()).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 3_599_000 },
      reports: [],
    })
  })

  it.each([200, 201, 203, 206, 299])(
    'when the service responds %i with a usable document, then it is used',
    async (status) => {
      answered(status, grantText())
      expect((await exchange()).grant.accessToken).toBe('issued-token')
    },
  )

  const rejected = { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected', retryable: false }
  const throttled = { code: 'ERR_THROTTLED', outcome: 'deferred', retryable: true }
  const misdirected = { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', retryable: false }
  const failed = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx', retryable: true }
  const gaveUp = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown', retryable: true }
  const credentials =
    /: check the credentials and baseUrl, and that the service uses Variant A \(client id and secret\)$/
  const variant = /: check baseUrl, and that the service uses Variant A \(client id and secret\)$/
  const gone =
    /: check baseUrl and its trailing slash; .*oauth2; Variant B .* may have been retired: its support ended on 1 December 2025$/
  const service = /: the token service failed$/

  it.each([
    { status: 400, ...rejected, advice: credentials },
    { status: 401, ...rejected, advice: credentials },
    { status: 403, ...rejected, advice: credentials },
    { status: 404, ...misdirected, advice: gone },
    { status: 410, ...misdirected, advice: gone },
    ...[402, 405, 406, 409, 415, 418, 422, 428, 499].map((status) => ({
      status,
      ...misdirected,
      advice: variant,
    })),
    {
      status: 407,
      ...misdirected,
      advice: /: a proxy requires credentials; check transport\.proxy, or HTTPS_PROXY$/,
    },
    { status: 408, ...gaveUp, advice: /: the token service did not complete the request$/ },
    { status: 425, ...gaveUp, advice: /: the token service did not complete the request$/ },
    {
      status: 429,
      ...throttled,
      advice: /: too many token requests: let all processes of the account share a store$/,
    },
    ...[500, 501, 502, 503, 504, 599].map((status) => ({ status, ...failed, advice: service })),
    { status: 511, ...failed, advice: /: this network requires a login$/ },
  ])('when the service responds $status, then the error is $code, $outcome', async ({ advice, ...expected }) => {
    answered(expected.status, '{}')
    const error = await failureOf(exchange())
    expect(error).toMatchObject(expected)
    expect(error.message).toMatch(advice)
    expect(error.message.startsWith(`${ADDRESS} responded with ${expected.status}: `)).toBe(true)
  })
})

describe('given a redirect', () => {
  it.each([300, 301, 302, 303, 305, 307, 308])(
    'when %i points to another origin, then the error reports it, and quotes nothing of the address (F222)',
    async (status) => {
      answered(status, '', { Location: 'https://someone:pass-word@elsewhere.example:8443/landing?state=xyz#here' })
      const error = await failureOf(obtain(sourceAt(`${HOST}/api/`)))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status, retryable: false })
      expect(error.message).toBe(
        `${ADDRESS} responded with ${status}: a redirect to another origin; token requests follow no redirects, check baseUrl`,
      )
    },
  )

  it.each([
    ['another path of the same origin', '/login?next=/api/token/', / a redirect to another path;/],
    ['the same path over http', 'http://tokens.example/api/token/', / a redirect to plain http;/],
    ['the same path without its slash', '/api/token', / a redirect that changes only the trailing slash;/],
    [
      'the same without its slash, absolute',
      `${HOST}/api/token?x=1`,
      / a redirect that changes only the trailing slash;/,
    ],
    ['no address', undefined, / a redirect without a valid target; check baseUrl$/],
    ['an invalid address', 'https://', / a redirect without a valid target; check baseUrl$/],
  ])('when it points to %s, then the error reports it', async (_, location, advice) => {
    answered(307, '', location === undefined ? {} : { Location: location })
    expect((await failureOf(obtain(sourceAt(`${HOST}/api/`)))).message).toMatch(advice)
  })

  it('when the service responds 304, then that is a wrong request too', async () => {
    const error = await failureOf(obtain(sourceBehind(answering('', 304))))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', status: 304 })
  })
})

describe('given a status unknown to HTTP', () => {
  it.each([0, 99, 199, 600, 999])('when the adapter returns %i, then nothing is known', async (status) => {
    const error = await failureOf(obtain(sourceBehind(answering(grantText(), status))))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', status })
    expect(error.message).toMatch(/: this is not an HTTP status$/)
  })
})

describe('given the code in an error response (F52)', () => {
  it.each([
    ['a number', '{"code":2006}', '2006'],
    ['text', '{"code":"2006"}', '2006'],
    ['a string with a space', '{"code":" 2006"}', '2006'],
    ['a string with surrounding whitespace', '{"code":"\\t2006 \\n"}', '2006'],
    ['a word', '{"detail":"Request was throttled.","code":"throttled"}', 'throttled'],
    ['in the first of the errors', '{"errors":[{"status":"400","code":"2006"},{"code":"2007"}]}', '2006'],
    ['a number in the first of the errors', '{"errors":[{"code":2006}]}', '2006'],
    ['in error', '{"error":{"code":"2006"}}', '2006'],
    ['in detail', '{"detail":{"code":"2006"}}', '2006'],
    ['in two places, of which the errors count first', '{"code":"1","errors":[{"code":"2006"}]}', '2006'],
    ['unusable in the errors, usable beside them', '{"code":"2006","errors":[{"code":null}]}', '2006'],
    ['twice, the last counts', '{"code":"2006","code":"2007"}', '2007'],
    ['zero', '{"code":0}', '0'],
    ['a code of the maximum length', '{"code":123456789}', '123456789'],
    ['longer than the maximum length', '{"code":1234567890}', undefined],
    ['a number that is not a code', '{"code":-1.5}', undefined],
    ['a word of the framework', '{"code":"token_not_valid"}', 'token_not_valid'],
    ['an unknown word (F222)', '{"code":"c0ffee-token"}', undefined],
    ['a property name of objects (F222)', '{"code":"constructor"}', undefined],
    ['an unknown word in the errors, a number beside them (F222)', '{"code":2006,"errors":[{"code":"x"}]}', '2006'],
    ['a sentence', '{"code":"not a code"}', undefined],
    ['markup', '{"code":"<b>"}', undefined],
    ['empty', '{"code":""}', undefined],
    ['blank', '{"code":"  "}', undefined],
    ['null', '{"code":null}', undefined],
    ['a boolean', '{"code":true}', undefined],
    ['an array', '{"code":["2006"]}', undefined],
    ['an object', '{"code":{"code":"2006"}}', undefined],
    ['in an object instead of an array of errors', '{"errors":{"code":"2006"}}', undefined],
    ['nowhere', '{"detail":"No active account found with the given credentials"}', undefined],
  ])('when it is %s, then the status decides and the code is evidence', async (_, body, serviceCode) => {
    answered(400, body)
    const error = await failureOf(obtain(sourceAt(`${HOST}/api`)))
    expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected', status: 400 })
    expect(error.serviceCode).toBe(serviceCode)
  })

  it('when it is part of the request, in a header or as a credential, then it is not kept: it may be a secret', async () => {
    const transport = { headers: { 'X-Api-Key': 'key-of-nobody' } }
    for (const sent of ['key-of-nobody', client.clientId, client.clientSecret]) {
      answered(400, `{"code":"${sent}"}`)
      const error = await failureOf(obtain(sourceAt(`${HOST}/api`, transport)))
      expect(error).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
      expect(error.serviceCode).toBeUndefined()
    }
  })

  it.each([
    [429, 'throttled', 'ERR_THROTTLED'],
    [429, '2006', 'ERR_THROTTLED'],
    [500, '2006', 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    [404, '2006', 'ERR_TOKEN_REQUEST'],
    [400, 'throttled', 'ERR_CREDENTIALS_REJECTED'],
  ])('when a %i carries the code %s, then the error is still %s (F54)', async (status, serviceCode, code) => {
    answered(status, `{"errors":[{"code":"${serviceCode}"}]}`)
    expect(await failureOf(obtain(sourceAt(`${HOST}/api`)))).toMatchObject({ code, serviceCode, status })
  })
})

describe('given the body of an error response (F53)', () => {
  const deep = (depth: number, open: string, close: string) => `${open.repeat(depth)}0${close.repeat(depth)}`

  it.each<[string, string | Buffer]>([
    ['empty', ''],
    ['null', 'null'],
    ['an array', '[]'],
    ['an array of codes', '[{"code":"2006"}]'],
    ['text', '"BODY-MARK"'],
    ['a number', '2006'],
    ['half of a document', '{"errors":[{"code":"2006"'],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from('{"code":"2006","detail":"BODY-MARK'), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
    ['UTF-16', Buffer.from('\ufeff{"code":"2006"}', 'utf16le')],
    ['60 KiB long', `{"detail":"${'BODY-MARK'.repeat(6_800)}"}`],
    ['10 000 arrays deep', deep(10_000, '[', ']')],
    ['10 000 objects deep', deep(10_000, '{"a":', '}')],
    ['10 000 errors deep', deep(5_000, '{"errors":[', ']}')],
    ['an array of null as errors', '{"errors":[null]}'],
    ['an empty array of errors', '{"errors":[]}'],
    ['errors that are null', '{"errors":null,"error":null,"detail":null}'],
    [
      'keys of a prototype',
      '{"__proto__":{"code":"2006"},"constructor":{"code":"2006"},"toString":1,"valueOf":"BODY-MARK"}',
    ],
    ['an error with keys of a prototype', '{"errors":[{"__proto__":{"code":"2006"}}]}'],
  ])('when it is %s, then the error has its type and nothing of the body', async (_, body) => {
    answered(400, body, { 'Content-Type': 'application/vnd.api+json' })
    const error = await failureOf(obtain(sourceAt(`${HOST}/api`)))
    expect(error.message).toBe(
      `${ADDRESS} responded with 400: check the credentials and baseUrl, and that the service uses Variant A (client id and secret)`,
    )
    expect(Object.fromEntries(Object.entries(error))).toEqual({
      code: 'ERR_CREDENTIALS_REJECTED',
      outcome: 'rejected',
      retryable: false,
      status: 400,
    })
    expect(error.cause).toBeUndefined()
  })

  it('when it names the caller, then the error does not', async () => {
    answered(400, `{"detail":"no such client ${client.clientId}","code":"2006"}`)
    const error = await failureOf(obtain(sourceAt(`${HOST}/api`)))
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toContain(client.clientId)
  })
})

describe('given Retry-After on an error response', () => {
  const date = 'Thu, 01 Jan 2026 11:00:00 GMT'

  it.each([
    ['seconds on a 429', 429, { 'Retry-After': '120' }, 120_000],
    ['seconds on a 503 with a page of HTML', 503, { 'Retry-After': '7' }, 7_000],
    ['zero', 429, { 'Retry-After': '0' }, 0],
    [
      'a date, by the clock of the service (F48)',
      429,
      { 'Retry-After': 'Thu, 01 Jan 2026 11:02:00 GMT', Date: date },
      120_000,
    ],
    ['a date without a Date', 429, { 'Retry-After': 'Thu, 01 Jan 2026 00:00:30 GMT' }, 30_000],
    ['a date that has passed (F46)', 429, { 'Retry-After': 'Thu, 01 Jan 2026 10:00:00 GMT', Date: date }, 0],
    ['a form unknown to HTTP (F47)', 429, { 'Retry-After': '0x10' }, undefined],
    ['nothing', 429, {}, undefined],
  ])('when it has %s, then the error has the requested pause', async (_, status, headers, retryAfterMs) => {
    answered(status, '<html></html>', headers)
    // The clock of the test stands at 2026-01-01T00:00:00Z.
    expect((await failureOf(obtain(sourceAt(`${HOST}/api`)))).retryAfterMs).toBe(retryAfterMs)
  })

  it('when a custom adapter spells it with capitals, then it is read anyway', async () => {
    const headers = { 'Retry-After': 'Thu, 01 Jan 2026 11:02:00 GMT', Date: date }
    expect((await failureOf(obtain(sourceBehind(answering('', 429, headers))))).retryAfterMs).toBe(120_000)
  })

  it('when a redirect comes from an adapter that spells Location with a capital, then it is read', async () => {
    const adapter = answering('', 307, { Location: 'https://elsewhere.example/' })
    expect((await failureOf(obtain(sourceBehind(adapter)))).message).toContain('a redirect to another origin;')
  })
})
