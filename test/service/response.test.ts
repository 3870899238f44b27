import { afterEach, describe, expect, it } from '@jest/globals'
import { isTokenError } from '../../src/core/errors.ts'
import { answering, failureOf, grantText, objectText, obtain, sourceBehind } from './world.ts'

const ADDRESS = 'https://tokens.example/api/token/'

/** One obtain whose response has this body and status 200. */
const reading = (body: unknown) => obtain(sourceBehind(answering(body)))

const odd = (message: string) => ({ kind: 'unexpected-response', message: expect.stringContaining(message) })

/** Expects an obtain to reject this body with a message that contains `why`. */
async function expectUnusable(body: unknown, why: RegExp): Promise<void> {
  const error = await failureOf(reading(body))
  expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', retryable: true })
  expect(error.message).toMatch(why)
  expect(error.cause).toBeUndefined()
}

describe('given the response of the specification', () => {
  it('when it is read, then it has the token and the lifetime, and nothing is reported', async () => {
    expect(await reading(grantText())).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 3_599_000 },
      reports: [],
    })
  })

  it('when it has unknown members, then they are ignored', async () => {
    const { grant, reports } = await reading(
      grantText({ refresh: '"r"', scope: '[1]', access_expired_at: '"2020-12-29T05:42:11.925654Z"' }).replace(
        '{"data"',
        '{"jsonapi":{"version":"1.1"},"links":null,"meta":{"sign":"x"},"included":[],"data"',
      ),
    )
    expect(grant).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 3_599_000 })
    expect(reports).toEqual([])
  })

  it.each(['"errors":null', '"errors":[]', '"error":false', '"error":""'])(
    'when it states by %s that there is no error, then it is used',
    async (member) => {
      expect((await reading(grantText().replace('{', `{${member},`))).grant.accessToken).toBe('issued-token')
    },
  )

  it('when it is unusable, then the error has the status of the response', async () => {
    expect((await failureOf(reading('<html>'))).status).toBe(200)
  })
})

describe('given expires_in', () => {
  it.each([
    ['1', 1_000],
    ['0.5', 500],
    ['0.001', 1],
    ['59.999', 59_999],
    ['60', 60_000],
    ['6e1', 60_000],
    ['60.0', 60_000],
    ['3599', 3_599_000],
    ['1000000000000', 1e15],
    ['9007199254740993', 9007199254740992000],
  ])('when it is the number %s, then the token lives %d ms (F6, F18)', async (text, accessLifetimeMs) => {
    const { grant, reports } = await reading(grantText({ expires_in: text }))
    expect(grant.accessLifetimeMs).toBeCloseTo(accessLifetimeMs, 6)
    expect(reports).toEqual([])
  })

  it.each([
    ['"60"', 60_000],
    ['"3599"', 3_599_000],
    ['"060"', 60_000],
  ])('when it is the string %s, then it is used and reported (F17)', async (text, accessLifetimeMs) => {
    const { grant, reports } = await reading(grantText({ expires_in: text }))
    expect(grant.accessLifetimeMs).toBe(accessLifetimeMs)
    expect(reports).toEqual([odd('expires_in')])
  })

  it.each([
    ...[undefined, 'null', 'true', 'false', '{}', '[]', '[60]', '{"seconds":60}'],
    ...['0', '-0', '-5', '-0.5', '1e400', '-1e400', '1e-400'],
    ...['""', '" "', '"0"', '"000"', '"-5"', '"+60"', '"60.5"', '"1e3"', '"0x3c"', '" 60 "', '"60 "', '"60\\n"'],
    ...['"6_0"', '"1,000"', '"60s"', '"NaN"', '"Infinity"', '"٦٠"', '"６０"', '"abc"', `"${'9'.repeat(400)}"`],
  ])('when it is %s, then the response is rejected (F16, F17)', async (text) => {
    await expectUnusable(
      grantText({ expires_in: text }),
      /expires_in must be a positive number of seconds; ask the operator/,
    )
  })

  it('when it is beyond the range of milliseconds, then the response is rejected', async () => {
    await expectUnusable(grantText({ expires_in: '1e308' }), /must be a positive number of seconds/)
  })

  it.each(['NaN', 'Infinity', '060', '0x3c', '+60', '.5', '60.', 'undefined'])(
    'when it is %s, which is not JSON, then the response is rejected',
    async (text) => {
      await expectUnusable(grantText({ expires_in: text }), /it is not JSON; check baseUrl$/)
    },
  )
})

describe('given access', () => {
  it.each(['t', '!', '~', 'a.b-c_d~e+f/g==', 'x'.repeat(60_000)])(
    'when it is a string of visible ASCII characters, then it is the token',
    async (token) => {
      expect((await reading(grantText({ access: JSON.stringify(token) }))).grant.accessToken).toBe(token)
    },
  )

  it.each([undefined, 'null', '""', '5', '0', 'true', '{}', '[]', '["a"]', '{"token":"a"}'])(
    'when it is %s, then the response is rejected (F64)',
    async (text) => {
      await expectUnusable(
        grantText({ access: text }),
        /data\.attributes\.access must be a non-empty string; ask the operator/,
      )
    },
  )

  it.each([
    ...[' ', '   ', 'a b', ' a', 'a ', 'a\tb', 'a\nb', 'a\r\nX-Injected: yes', 'a\0', '\0', 'a\u007f'],
    ...['tok€n', 'é', 'e\u0301', 'ｔoken', '\u00a0', '\u200b', '\ufeffa', '🗝', '\ud800', '\udc00a'],
  ])('when it is %j, then the grant is rejected, not repaired (F64)', async (token) => {
    await expectUnusable(grantText({ access: JSON.stringify(token) }), /visible ASCII characters$/)
  })

  it('when it is a megabyte long, then the response is rejected (F64)', async () => {
    await expectUnusable(grantText({ access: `"${'x'.repeat(1_000_000)}"` }), / than 65536 bytes$/)
  })
})

describe('given token_type', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('when it is %s, then it is Bearer (F74)', async (word) => {
    const { grant, reports } = await reading(grantText({ token_type: JSON.stringify(word) }))
    expect(grant.accessToken).toBe('issued-token')
    expect(reports).toEqual([])
  })

  it('when it is missing, then Bearer is assumed and reported (F74)', async () => {
    const { grant, reports } = await reading(grantText({ token_type: undefined }))
    expect(grant.accessToken).toBe('issued-token')
    expect(reports).toEqual([odd('token_type')])
  })

  it.each([
    '"MAC"',
    '"DPoP"',
    '""',
    '" Bearer"',
    '"Bearer "',
    '"Bearer, MAC"',
    '"Bearér"',
    'null',
    '5',
    'true',
    '{}',
    '["Bearer"]',
  ])('when it is %s, then the response is rejected (F74)', async (text) => {
    await expectUnusable(grantText({ token_type: text }), /token_type must be Bearer; ask the operator/)
  })
})

describe('given id', () => {
  it.each(['"7"', '""', '"\\ud800"'])('when it is %s, then nothing is reported', async (text) => {
    expect((await reading(grantText({}, text))).reports).toEqual([])
  })

  it.each(['7', 'null', '{}', '[]', 'true'])(
    'when it is %s, then the response is used and reported (F63)',
    async (text) => {
      const { grant, reports } = await reading(grantText({}, text))
      expect(grant.accessToken).toBe('issued-token')
      expect(reports).toEqual([odd('id')])
    },
  )

  it('when it is missing, then the response is used and reported (F63)', async () => {
    const text = grantText().replace('"id":"7",', '')
    expect(text).not.toContain('"id"')
    const { grant, reports } = await reading(text)
    expect(grant.accessToken).toBe('issued-token')
    expect(reports).toEqual([odd('id')])
  })

  it('when every part of the response is unexpected, then each is reported', async () => {
    const text = grantText({ expires_in: '"60"', token_type: undefined }, '7')
    expect((await reading(text)).reports).toEqual([odd('expires_in'), odd('token_type'), odd('id')])
  })

  it('when there is no listener for reports, then an unexpected response is used anyway', async () => {
    const text = grantText({ expires_in: '"60"', token_type: undefined }, '7')
    const source = sourceBehind(answering(text))
    const context = { signal: new AbortController().signal, clock: { wallNow: () => 0 } as never }
    expect(await source.obtain(context)).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 60_000 })
  })
})

describe('given a 200 without a token', () => {
  const attributes = '{"access":"issued-token","expires_in":60,"token_type":"Bearer"}'
  const resource = `{"type":"auth-token","id":"7","attributes":${attributes}}`

  it.each([
    ['nothing', '', /it is not JSON; check baseUrl$/],
    ['blanks', ' \n\t ', /it is not JSON; check baseUrl$/],
    ['HTML of a captive portal (F37)', '<!doctype html><title>Sign in</title>', /it is not JSON; check baseUrl$/],
    ['half a document', grantText().slice(0, -2), /it is not JSON; check baseUrl$/],
    ['a document and more', `${grantText()}x`, /it is not JSON; check baseUrl$/],
    ['two documents', grantText() + grantText(), /it is not JSON; check baseUrl$/],
    ['JSON with a comment', `${grantText()}//`, /it is not JSON; check baseUrl$/],
    ['JSON with single quotes', grantText().replaceAll('"', "'"), /it is not JSON; check baseUrl$/],
    ['a form', 'access=issued-token&expires_in=60', /it is not JSON; check baseUrl$/],
    ['null', 'null', /the document must be an object; ask the operator/],
    ['a number', '5', /the document must be an object; ask the operator/],
    ['text', '"issued-token"', /the document must be an object; ask the operator/],
    ['an array', `[${grantText()}]`, /the document must be an object; ask the operator/],
    ['an empty object', '{}', / data must be an object; ask the operator/],
    ['data that is null (F61)', '{"data":null}', / data must be an object; ask the operator/],
    ['data that is an array (F61)', `{"data":[${resource}]}`, / data must be an object; ask the operator/],
    ['data that is a string (F61)', '{"data":"issued-token"}', / data must be an object; ask the operator/],
    ['data that is a number', '{"data":5}', / data must be an object; ask the operator/],
    ['data that is empty', '{"data":{}}', /data\.type must be 'auth-token'; ask the operator/],
    ['the resource without data, as in refresh responses', resource, / data must be an object; ask the operator/],
    ['only the attributes, as in OAuth', attributes, / data must be an object; ask the operator/],
    ['a document within a document', `{"data":${grantText()}}`, /data\.type must be 'auth-token'; ask the operator/],
    [
      'another type (F62)',
      grantText().replace('"auth-token"', '"user"'),
      /data\.type must be 'auth-token'; ask the operator/,
    ],
    [
      'the type in capitals (F62)',
      grantText().replace('auth-token', 'Auth-Token'),
      /data\.type must be 'auth-token'; ask the operator/,
    ],
    ['the type in an array (F62)', grantText().replace('"auth-token"', '["auth-token"]'), /data\.type must be/],
    [
      'no type (F62)',
      grantText().replace('"type":"auth-token",', ''),
      /data\.type must be 'auth-token'; ask the operator/,
    ],
    [
      'no attributes (F61)',
      '{"data":{"type":"auth-token","id":"7"}}',
      /data\.attributes must be an object; ask the operator/,
    ],
    [
      'attributes that are null (F61)',
      '{"data":{"type":"auth-token","attributes":null}}',
      /attributes must be an object; ask the operator/,
    ],
    [
      'attributes that are an array',
      '{"data":{"type":"auth-token","attributes":[]}}',
      /attributes must be an object; ask the operator/,
    ],
    [
      'attributes that are a string',
      '{"data":{"type":"auth-token","attributes":"a"}}',
      /attributes must be an object; ask the operator/,
    ],
    ['errors (F60)', '{"errors":[{"status":"400","code":"2006"}]}', /it has errors although its status is a success$/],
    ['an error (F60)', '{"error":"invalid_client"}', /it has errors although its status is a success$/],
    [
      'errors beside data (F60)',
      `{"errors":[{}],"data":${resource}}`,
      /it has errors although its status is a success$/,
    ],
    ['an error beside data (F60)', `{"data":${resource},"error":{"code":1}}`, /it has errors although/],
    [
      'the detail of an error',
      '{"detail":"No active account found","code":"2006"}',
      / data must be an object; ask the operator/,
    ],
  ])('when it has %s, then it is rejected (F60, F61, F62)', async (_, body, why) => {
    await expectUnusable(body, why)
    expect((await failureOf(reading(body))).message.startsWith(`The response from ${ADDRESS} cannot be used: `)).toBe(
      true,
    )
  })

  it.each([
    ['as specified', {}],
    ['without an expiry of the refresh token', { refresh_expired_at: undefined }],
  ])('when it is the response of Variant B %s, then the error names the variant (F75)', async (_, changed) => {
    const members = {
      access: '"issued-token"',
      refresh: '"refresh-token"',
      access_expired_at: '"2020-12-29T05:42:11.925654Z"',
      refresh_expired_at: '"2020-12-29T11:42:11.925654Z"',
      is_2fa_confirmed: 'false',
      ...changed,
    }
    const body = `{"data":{"type":"auth-token","id":"7","attributes":${objectText(members)}},"meta":{"time":"t","sign":"s"}}`
    await expectUnusable(body, /it uses Variant B \(login and password\)$/)
  })
})

describe('given keys that reach prototypes (F77)', () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort()

  afterEach(() => {
    expect(Object.getOwnPropertyNames(Object.prototype).sort()).toEqual(before)
    expect(({} as { access?: unknown }).access).toBeUndefined()
  })

  const evil = '{"access":"evil","expires_in":60,"token_type":"Bearer"}'
  const keys =
    '"__proto__":{"access":"evil"},"constructor":{"prototype":{"access":"evil"}},"prototype":{"access":"evil"},"toString":1,"hasOwnProperty":null,"valueOf":"x","toJSON":{}'

  it('when they are at every level beside the other members, then they are ignored', async () => {
    const text = `{${keys},"data":{${keys},"type":"auth-token","id":"7","attributes":{${keys},"access":"issued-token","expires_in":60,"token_type":"Bearer"}}}`
    expect(await reading(text)).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 60_000 },
      reports: [],
    })
  })

  it.each([
    ['the attributes', `{"data":{"type":"auth-token","id":"7","attributes":{"__proto__":${evil}}}}`],
    ['the resource', `{"data":{"type":"auth-token","id":"7","__proto__":{"attributes":${evil}}}}`],
    ['the type', `{"data":{"__proto__":{"type":"auth-token"},"attributes":${evil}}}`],
    ['the document', `{"__proto__":{"data":{"type":"auth-token","attributes":${evil}}}}`],
    ['constructor.prototype', `{"constructor":{"prototype":{"data":{"type":"auth-token","attributes":${evil}}}}}`],
  ])('when they would provide %s, then the response is rejected', async (_, text) => {
    expect(await failureOf(reading(text))).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' })
  })

  it.each([
    ['access', grantText({ access: undefined }), 'evil'],
    ['expires_in', grantText({ expires_in: undefined }), 60],
    ['attributes', '{"data":{"type":"auth-token"}}', { access: 'evil', expires_in: 60 }],
  ])('when Object.prototype has %s, then it is not read', async (name, text, value) => {
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true })
    try {
      const error: unknown = await reading(text).catch((thrown: unknown) => thrown)
      expect(isTokenError(error, 'ERR_TOKEN_RESPONSE')).toBe(true)
    } finally {
      Reflect.deleteProperty(Object.prototype, name)
    }
  })
})

describe('given JSON that can be read in more than one way (F78)', () => {
  it.each([
    ['access twice', grantText().replace('"access":', '"access":"first","access":')],
    ['data twice', grantText().replace('{"data":', '{"data":{"type":"user"},"data":')],
    ['type twice', grantText().replace('"type":', '"type":"user","type":')],
    ['an escaped key', grantText().replace('"access"', '"acc\\u0065ss"')],
    ['an escaped value', grantText({ access: '"issued\\u002dtoken"' })],
    ['surrounding whitespace', ` \r\n\t${grantText()} \r\n\t`],
  ])('when it has %s, then the last one counts', async (_, text) => {
    expect((await reading(text)).grant.accessToken).toBe('issued-token')
  })

  it.each([
    ['expires_in', grantText({ expires_in: '60,"expires_in":0' })],
    ['access', grantText({ access: '"first","access":""' })],
    ['type', grantText().replace('"type":"auth-token"', '"type":"auth-token","type":"user"')],
  ])('when its last %s is unusable, then the response is rejected', async (_, text) => {
    await expect(reading(text)).rejects.toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
  })

  const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)))

  it.each([
    ['bytes', bytes([0xef, 0xbb, 0xbf], grantText())],
    ['text', `\ufeff${grantText()}`],
  ])('when it starts with a BOM, as %s, then it is read', async (_, body) => {
    expect((await reading(body)).grant.accessToken).toBe('issued-token')
  })

  it.each([
    ['a second BOM', bytes([0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf], grantText()), /it is not JSON; check baseUrl$/],
    ['UTF-16', Buffer.from(`\ufeff${grantText()}`, 'utf16le'), /is not UTF-8/],
    ['UTF-16 without BOM', Buffer.from(grantText(), 'utf16le'), /it is not JSON; check baseUrl$/],
    ['Latin-1 in an unread member', bytes('{"note":"', [0xe9], `",${grantText().slice(1)}`), /is not UTF-8/],
    ['a byte that is not UTF-8', bytes('{"note":"', [0xff], `",${grantText().slice(1)}`), /is not UTF-8/],
    ['an overlong slash', bytes('{"note":"', [0xc0, 0xaf], `",${grantText().slice(1)}`), /is not UTF-8/],
    ['a surrogate in UTF-8', bytes('{"note":"', [0xed, 0xa0, 0x80], `",${grantText().slice(1)}`), /is not UTF-8/],
    ['half a character at its end', bytes(grantText(), [0xc3]), /is not UTF-8/],
  ])('when it is %s, then it is rejected', async (_, body, why) => {
    await expectUnusable(body, why)
  })

  it('when there is a lone surrogate in an unread member, then the response is used', async () => {
    const text = grantText().replace('{"data"', '{"note":"\\ud800","data"')
    expect((await reading(text)).grant.accessToken).toBe('issued-token')
  })

  it('when it nests 20 000 deep in an unread member, then the response is used', async () => {
    const text = grantText().replace('{"data"', `{"note":${'['.repeat(20_000)}${']'.repeat(20_000)},"data"`)
    expect((await reading(text)).grant.accessToken).toBe('issued-token')
  })
})
