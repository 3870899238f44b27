import { createHash, createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from '@jest/globals'
import type { AxiosAdapter } from 'axios'
import nock from 'nock'
import { systemClock } from '../../src/core/clock.ts'
import { type SimulatedService, type SimulatedServiceOptions, startTokenService } from '../../tools/testing/index.ts'
import { createTokenManager } from '../../src/create-token-manager.ts'
import { loginPassword } from '../../src/service/login-password.ts'
import { logged } from '../support/canary.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import {
  account,
  answer,
  behindNock,
  deskBehind,
  HOST,
  HOUR,
  metaText,
  NOW,
  obtainText,
  openDesk,
  pairText,
  PATHS,
  SECOND,
  stamp,
  tagOf,
  unsignedText,
} from './variant-b.ts'
import { failureOf, misuse, objectText, response } from './world.ts'

behindNock()

const ACCESS_ALONE = { accessToken: 'access-1', accessLifetimeMs: 60 * SECOND }
const PAIR_OF_UNKNOWN_END = { ...ACCESS_ALONE, refreshToken: 'refresh-1' }
const PAIR = { ...PAIR_OF_UNKNOWN_END, refreshLifetimeMs: 6 * HOUR }

const odd = (what: string) => ({ kind: 'unexpected-response', message: expect.stringContaining(what) })
const clockOff = { kind: 'clock-skew', message: expect.stringMatching(/^meta\.time is \d+ (min|h) (ahead of|behind) /) }
const OLD = /meta\.time does not advance$/
const SHAPELESS = /: meta\.time (is|has) .*(missing$|verifySignature: false helps$|characters may have been moved$)/s
const httpDate = (at: number) => new Date(at).toUTCString()

/** A desk whose obtain gets this response. */
function obtaining(text: string, options: object = {}, headers: Record<string, string> = {}) {
  answer('obtain', text, headers)
  return openDesk(options)
}

/** A desk that has obtained, and whose next refresh gets this response. */
async function refreshing(text: string, options: object = {}, headers: Record<string, string> = {}) {
  const desk = obtaining(obtainText(), options)
  await desk.obtain()
  answer('refresh', text, headers)
  return desk
}

/** Expects the whole response to be rejected, so that no part of it is used. */
async function expectDistrusted(exchange: Promise<unknown>, why = /: meta\./): Promise<void> {
  expect(await failureOf(exchange)).toMatchObject({
    message: expect.stringMatching(why),
    code: 'ERR_SIGNATURE',
    outcome: 'unknown',
    retryable: false,
    status: 200,
  })
}

async function expectUnusable(exchange: Promise<unknown>, why: RegExp): Promise<void> {
  const error = await failureOf(exchange)
  expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', retryable: true, status: 200 })
  expect(error.message).toMatch(why)
}

const meta = (changes: Record<string, string | undefined>) => ({ meta: metaText(stamp(NOW), 'refresh-1', changes) })

describe('given an obtain response with a valid signature', () => {
  it('when it is that of the specification, then it has the token set and both lifetimes', async () => {
    const desk = obtaining(obtainText())
    expect(await desk.obtain()).toEqual(PAIR)
    expect(desk.reports).toEqual([])
  })

  it('when its tag uses the digest of both, or another spelling, then it is accepted (F84)', async () => {
    const digest = createHash('sha256')
      .update(account.login + account.password)
      .digest()
    const tag = Buffer.from(tagOf(stamp(NOW), 'refresh-1'), 'hex')
    for (const sign of [
      createHmac('sha256', digest)
        .update(`${stamp(NOW)}refresh-1`)
        .digest('hex'),
      ` ${tag.toString('hex').toUpperCase()} `,
      tag.toString('base64'),
      tag.toString('base64url'),
    ])
      expect(await obtaining(obtainText(meta({ sign: JSON.stringify(sign) }))).obtain()).toEqual(PAIR)
  })

  it.each([
    ['truncated microseconds', stamp(NOW + 60 * SECOND, '999'), 60 * SECOND],
    ['nanoseconds', '2026-01-01T00:01:00.001999999Z', 60_001],
    ['no fraction', '2026-01-01T00:01:00Z', 60 * SECOND],
    ['an offset (F2)', '2026-01-01T03:01:00+03:00', 60 * SECOND],
    ['no zone (F3)', '2026-01-01T00:01:00', 60 * SECOND],
    ['a millisecond left', stamp(NOW + 1), 1],
    ['a leap second (F4)', '2026-01-01T23:59:60Z', 24 * HOUR - 1],
    ['the year 9999 (F6)', '9999-12-31T23:59:59Z', Date.UTC(9999, 11, 31, 23, 59, 59) - NOW],
  ])(
    'when access_expired_at has %s, then the lifetime is right (F2, F3, F4, F6)',
    async (_, text, accessLifetimeMs) => {
      const attributes = { access_expired_at: JSON.stringify(text) }
      expect(await obtaining(obtainText({ attributes })).obtain()).toEqual({ ...PAIR, accessLifetimeMs })
    },
  )

  it.each([
    ['access_expired_at', [undefined, 'null', '""', '"soon"', '"2026-02-30T00:00:00Z"', '1767225660', '[]', 'true']],
    ['access', [undefined, 'null', '""', '5', '[]', '{"access":"a"}', '"a b"', '"é"']],
  ])('when %s is missing or unusable, then the response is rejected (F5, F64)', async (name, texts) => {
    for (const text of texts) {
      const desk = obtaining(obtainText({ attributes: { [name]: text } }))
      await expect(desk.obtain()).rejects.toMatchObject({
        code: 'ERR_TOKEN_RESPONSE',
        outcome: 'unknown',
        message: expect.stringMatching(new RegExp(`\\b(${name}|accessToken) must be `)),
      })
    }
  })

  it('when access_expired_at is not after meta.time, then it has expired by the service’s own clock (F7)', async () => {
    for (const ms of [0, -1, -365 * 24 * HOUR]) {
      const attributes = { access_expired_at: JSON.stringify(stamp(NOW + ms)) }
      await expectUnusable(obtaining(obtainText({ attributes })).obtain(), /has expired by the service’s/)
    }
  })

  it('when refresh_expired_at cannot be read, then the token set is used, with an unknown expiry, and reported (F70)', async () => {
    for (const text of [undefined, 'null', '""', '"garbage"', '"2026-02-30T00:00:00Z"', '1767225660', '{}']) {
      const desk = obtaining(obtainText({ attributes: { refresh_expired_at: text } }))
      expect([await desk.obtain(), desk.reports]).toEqual([PAIR_OF_UNKNOWN_END, [odd('refresh_expired_at')]])
    }
  })

  it.each<[string, number, object]>([
    ['before access_expired_at (F71)', 30 * SECOND, { ...PAIR, refreshLifetimeMs: 30 * SECOND }],
    ['a millisecond away', 1, { ...PAIR, refreshLifetimeMs: 1 }],
    ['now', 0, ACCESS_ALONE],
    ['past', -1, ACCESS_ALONE],
  ])('when refresh_expired_at is %s, then no expired refresh token is kept (F71)', async (_, ms, expected) => {
    const attributes = { refresh_expired_at: JSON.stringify(stamp(NOW + ms)) }
    expect(await obtaining(obtainText({ attributes })).obtain()).toEqual(expected)
  })

  it('when is_2fa_confirmed is anything or missing, then it has no effect (F73)', async () => {
    for (const text of ['true', undefined, '"yes"', 'null', '5', '{}']) {
      const desk = obtaining(obtainText({ attributes: { is_2fa_confirmed: text } }))
      expect([await desk.obtain(), desk.reports]).toEqual([PAIR, []])
    }
  })

  it('when it has no refresh token, and a matching signature, then its access token is used', async () => {
    const text = obtainText({ attributes: { refresh: undefined }, meta: metaText(stamp(NOW), '') })
    expect(await obtaining(text).obtain()).toEqual(ACCESS_ALONE)
  })

  it('when it has expires_in as well, then it is not a response of Variant A (F75)', async () => {
    expect(await obtaining(obtainText({ attributes: { expires_in: '5' } })).obtain()).toEqual(PAIR)
  })

  it('when there is no listener for what is unexpected in it, then it is used anyway', async () => {
    const desk = obtaining(obtainText().replace('"id":"7",', ''))
    desk.clock.stepWall(HOUR)
    const grant = await desk.source.obtain({ signal: new AbortController().signal, clock: desk.clock })
    expect(grant).toMatchObject({ accessToken: 'access-1' })
  })

  it('when it has no id, then it is used and reported (F63)', async () => {
    for (const id of ['', '"id":7,', '"id":null,']) {
      const desk = obtaining(obtainText().replace('"id":"7",', id))
      expect([await desk.obtain(), desk.reports]).toEqual([PAIR, [odd('id')]])
    }
  })

  it('when keys that reach prototypes are at every level, then they are ignored (F77)', async () => {
    const evil = '{"access":"evil","refresh":"evil","time":"evil","sign":"evil","data":{},"meta":{}}'
    const keys = `"__proto__":${evil},"constructor":${evil},"prototype":${evil},"toString":1,"hasOwnProperty":1,`
    const text = obtainText().replaceAll('{', `{${keys}`)
    expect(await obtaining(text).obtain()).toEqual(PAIR)
  })

  it('when only a prototype has meta or its members, then they are missing (F77, F82)', async () => {
    const { meta: text } = meta({})
    for (const document of [
      unsignedText().replace('{', `{"__proto__":{"meta":${text}},`),
      obtainText({ meta: `{"__proto__":${text}}` }),
    ])
      await expectDistrusted(obtaining(document).obtain())
  })

  it('when a key occurs twice, then the last one counts, for the signature too (F78)', async () => {
    const twice = obtainText().replace('"refresh":', '"refresh":"another","refresh":')
    expect(await obtaining(twice).obtain()).toEqual(PAIR)
    const reversed = obtainText().replace('"access":', '"refresh":"another","access":')
    await expectDistrusted(obtaining(reversed).obtain())
  })

  it.each(['"errors":[{"code":"2006"}]', '"error":"odd"'])(
    'when it has %s beside the token set, then it is rejected (F60)',
    async (member) => {
      const text = obtainText().replace('{', `{${member},`)
      await expectUnusable(obtaining(text).obtain(), /has errors although its status is a success$/)
    },
  )

  it('when it is not wrapped in data, then it is rejected: only refresh responses are bare', async () => {
    const bare = pairText().replace('{', `{"meta":${metaText(stamp(NOW))},`)
    await expectUnusable(obtaining(bare).obtain(), / data must be an object; ask the operator/)
  })

  it('when its access token or its expiries were altered, then it is accepted: the tag does not cover them (F87)', async () => {
    const attributes = { access: '"altered"', access_expired_at: JSON.stringify(stamp(NOW + HOUR)) }
    const grant = await obtaining(obtainText({ attributes })).obtain()
    expect(grant).toEqual({ ...PAIR, accessToken: 'altered', accessLifetimeMs: HOUR })
  })
})

describe('given a response of Variant A (F75)', () => {
  const text = `{"data":${objectText({
    type: '"auth-token"',
    id: '"7"',
    attributes: '{"access":"access-1","expires_in":3599,"token_type":"Bearer"}',
  })}}`

  it.each([true, false])(
    'when it responds to an obtain, and verifySignature is %s, then the error names the variant',
    async (verifySignature) => {
      await expectUnusable(obtaining(text, { verifySignature }).obtain(), /it uses Variant A/)
    },
  )

  it('when it responds to a refresh, then the error names the variant', async () => {
    const desk = await refreshing(text)
    await expectUnusable(desk.refresh(), /it uses Variant A/)
  })
})

describe('given an obtain response with an invalid signature', () => {
  const time = stamp(NOW)
  const tag = JSON.stringify(tagOf(time, 'refresh-1'))

  it.each<[string, string[]]>([
    ['no meta (F82)', [unsignedText(), ...['null', '[]', '"x"', '5', '{}'].map((text) => obtainText({ meta: text }))]],
    ['no sign (F82)', [undefined, 'null', '""', '" "'].map((sign) => obtainText(meta({ sign })))],
    ['no time (F82)', [undefined, 'null', '""', '5', '[]'].map((text) => obtainText(meta({ time: text })))],
    [
      'a sign that is not a tag (F85)',
      [`[${tag}]`, `{"sign":${tag}}`, '5', 'true', tag.slice(0, 33) + '"', '"00"', `"${'0'.repeat(60_000)}"`].map(
        (sign) => obtainText(meta({ sign })),
      ),
    ],
    [
      'a sign with one digit changed (F83)',
      [
        obtainText({
          meta: metaText(time).replace(/(sign":")(.)/, (_, a: string, d: string) => a + (d === '0' ? '1' : '0')),
        }),
      ],
    ],
    ['the sign of another refresh token (F86)', [obtainText({ meta: metaText(time, 'refresh-2') })]],
    ['the sign of another moment', [obtainText(meta({ time: JSON.stringify(stamp(NOW, '001')) }))]],
    [
      'the sign of another account',
      [obtainText({ meta: metaText(time, 'refresh-1', {}, { ...account, password: 'x' }) })],
    ],
    ['a time in another spelling (F89)', [obtainText(meta({ time: '"2026-01-01T00:00:00.000Z"' }))]],
    ['another refresh token', [obtainText({ attributes: { refresh: '"refresh-2"' } })]],
    [
      'no refresh token',
      [undefined, 'null', '5', '["refresh-1"]'].map((refresh) => obtainText({ attributes: { refresh } })),
    ],
  ])('when it has %s, then the whole response is rejected (F82, F83, F85, F86, F89)', async (_, texts) => {
    for (const text of texts) {
      const desk = obtaining(text)
      await expectDistrusted(desk.obtain())
      expect(desk.reports).toEqual([])
    }
  })

  it.each([
    ['epoch seconds', '1767225600', /a number in text \(epoch seconds or milliseconds\?\)/],
    ['epoch seconds with a fraction', '1767225600.25', /a number in text/],
    ['an HTTP date', 'Thu, 01 Jan 2026 00:00:00 GMT', /a date in words \(an HTTP date\?\)/],
    ['words', 'January 1, 2026', /a date in words/],
    ['ISO 8601 in lower case', '2026-01-01t00:00:00z', /like ISO 8601, but with parts that cannot be read/],
    ['a zone of two digits', '2026-01-01T00:00:00+03', /like ISO 8601, but/],
    ['ISO 8601 without separators', '20260101T000000Z', /ISO 8601 without separators/],
    ['a date alone', '2026-01-01', /a date without a time/],
    ['something else', '?at noon?', /in an unknown form/],
  ])(
    'when its time is %s, and its signature is valid, then the error names the form and verifySignature (F230)',
    async (_, text, form) => {
      const error = await failureOf(obtaining(obtainText({ meta: metaText(text) })).obtain())
      expect(error).toMatchObject({ code: 'ERR_SIGNATURE', outcome: 'unknown' })
      expect(error.message).toMatch(/such as 2020-12-29T05:42:11\.925654Z; .* verifySignature: false helps$/)
      expect(error.message).toMatch(form)
      expect(error.message).not.toContain(text)
    },
  )

  it.each([
    ['5', /meta\.time is a number/],
    ['true', /meta\.time is not text/],
  ])('when its time is %s, then the error names what it is (F230)', async (text, form) => {
    await expectDistrusted(obtaining(obtainText(meta({ time: text }))).obtain(), form)
  })

  it.each([
    '2026-01-01 00:00:00.000000Z',
    '2026-01-01 00:00:00.000000+00:00',
    '2026-01-01 03:00:00+0300',
    '2026-01-01T03:00:00.000000+0300',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00.000000',
  ])('when its time is spelled %s, and its signature is valid, then it is accepted (F230)', async (text) => {
    const ends = {
      access_expired_at: text.replace(/:00(?=[.+Z]|$)/, ':30'),
      refresh_expired_at: text.replace('2026', '2027'),
    }
    const attributes = Object.fromEntries(Object.entries(ends).map(([name, end]) => [name, JSON.stringify(end)]))
    const desk = obtaining(obtainText({ attributes, meta: metaText(text) }))
    expect(await desk.obtain()).toEqual({ ...PAIR, accessLifetimeMs: 30 * SECOND, refreshLifetimeMs: 365 * 24 * HOUR })
    expect(desk.reports).toEqual([])
  })

  it('when its time has an offset or no fraction, and its signature is valid, then it is accepted', async () => {
    for (const text of ['2026-01-01T03:00:00.000000+03:00', '2026-01-01T00:00:00Z'])
      expect(await obtaining(obtainText({ meta: metaText(text) })).obtain()).toEqual(PAIR)
  })

  it('when characters move from time to refresh, or back, then the form of time reveals it (F88)', async () => {
    const all = `${time}refresh-1`
    for (let at = 0; at < all.length; at += 1) {
      if (at === time.length) continue
      const moved = metaText(all.slice(0, at), all.slice(at))
      expect(moved).toContain(tagOf(time, 'refresh-1'))
      const text = obtainText({ attributes: { refresh: JSON.stringify(all.slice(at)) }, meta: moved })
      await expectDistrusted(deskBehind(async (config) => response(config, text)).obtain(), SHAPELESS)
    }
  })

  /** The next response of a service that signs `time` and `refresh`. An attacker has moved the end of `time` to `refresh`. */
  function withMoved(signedTime: string, moved: number) {
    const [shown, rest] = [signedTime.slice(0, -moved), `${signedTime.slice(-moved)}refresh-1`]
    const attributes = { refresh: JSON.stringify(rest) }
    expect(tagOf(shown, rest)).toBe(tagOf(signedTime, 'refresh-1'))
    return obtainText({ now: NOW + HOUR, attributes, meta: metaText(shown, rest) })
  }

  it.each([
    ['its zone', stamp(NOW + HOUR), 1],
    ['its zone and a part of the fraction', stamp(NOW + HOUR), 4],
    ['its zone and the whole fraction', stamp(NOW + HOUR), 8],
    ['a zone of another spelling', '2026-01-01 04:00:00.000000+0300', 5],
  ])(
    'when an attacker moves %s into the first refresh token, then that is rejected (F88, F230)',
    async (_, signedTime, moved) => {
      await expectDistrusted(obtaining(withMoved(signedTime, moved)).obtain(), /characters may have been moved$/)
    },
  )

  it.each([0, 1])(
    'when an attacker moves the zone after one was seen, then it is rejected, even after %d resets (F88, F230)',
    async (resets) => {
      const desk = obtaining(obtainText())
      await desk.obtain()
      for (let n = 0; n < resets; n += 1) desk.source.reset!()
      answer('obtain', withMoved(stamp(NOW + HOUR), 1))
      await expectDistrusted(desk.obtain(), /meta\.time has no zone, and earlier ones had one$/)
      answer('refresh', pairText({}, NOW + HOUR).replace('{', `{"meta":${metaText('2026-01-01T01:00:00')},`))
      await expectDistrusted(desk.refresh(), /meta\.time has no zone, and earlier ones had one$/)
    },
  )

  it('when the service never writes a zone, then each response is accepted, until one has a zone (F230)', async () => {
    const desk = openDesk()
    const next = async (time: string) => {
      answer('obtain', obtainText({ now: NOW + 5 * SECOND, meta: metaText(time) }))
      return desk.obtain()
    }
    for (const time of ['2026-01-01 00:00:01', '2026-01-01 00:00:02.5', '2026-01-01T00:00:03Z']) await next(time)
    await expectDistrusted(next('2026-01-01 00:00:04'), /has no zone, and earlier ones had one$/)
    expect(await next('2026-01-01T03:00:05+0300')).toEqual(PAIR)
  })

  it('when a response with a zone was rejected, then that zone does not count as seen (F230)', async () => {
    const desk = obtaining(obtainText({ meta: metaText(stamp(NOW), 'another') }))
    await expectDistrusted(desk.obtain())
    answer('obtain', obtainText({ meta: metaText('2026-01-01 00:00:00') }))
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when the credentials are composed and the signer decomposes them, then it is rejected (F90)', async () => {
    const composed = { login: 'clé', password: 'sécret' }
    const decomposed = { login: 'cle\u0301', password: 'se\u0301cret' }
    const signedBy = (signer: typeof composed) => obtainText({ meta: metaText(time, 'refresh-1', {}, signer) })
    expect(await obtaining(signedBy(composed), composed).obtain()).toEqual(PAIR)
    expect(await obtaining(signedBy(decomposed), decomposed).obtain()).toEqual(PAIR)
    await expectDistrusted(obtaining(signedBy(decomposed), composed).obtain(), /meta\.sign is missing or wrong$/)
  })
})

describe('given a source that has accepted a response of noon', () => {
  const noon = NOW + 12 * HOUR
  const answerOf = (text: string, micros?: string) =>
    obtainText({ now: noon, meta: metaText(micros === undefined ? text : stamp(noon, micros)) })

  async function atNoon(options: object = {}) {
    const desk = obtaining(answerOf('', '500'), options)
    await desk.obtain()
    return desk
  }

  it.each([
    ['the same', stamp(noon, '500')],
    ['the same, with an offset', '2026-01-01T15:00:00.000500+03:00'],
    ['a microsecond earlier', stamp(noon, '499')],
    ['a nanosecond earlier', '2026-01-01T12:00:00.000499999Z'],
    ['a year earlier', stamp(noon - 365 * 24 * HOUR)],
  ])('when a response arrives whose meta.time is %s, then it is an old one, and rejected (F79)', async (_, time) => {
    const desk = await atNoon()
    answer('obtain', answerOf(time))
    await expectDistrusted(desk.obtain(), OLD)
    answer('refresh', pairText({}, noon).replace('{', `{"meta":${metaText(time)},`))
    await expectDistrusted(desk.refresh(), OLD)
  })

  it('when a response of the moment before has another refresh token, then it is an old one too (F79)', async () => {
    const desk = await atNoon()
    const attributes = { refresh: '"refresh-0"' }
    answer('obtain', obtainText({ now: noon, attributes, meta: metaText(stamp(noon, '499'), 'refresh-0') }))
    await expectDistrusted(desk.obtain(), OLD)
  })

  it.each([
    ['a microsecond later', stamp(noon, '501')],
    ['a nanosecond later', '2026-01-01T12:00:00.000500001Z'],
  ])('when a response arrives whose meta.time is %s, then it is accepted', async (_, time) => {
    const desk = await atNoon()
    answer('obtain', answerOf(time))
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when two responses share a meta.time of whole seconds, then another refresh token makes the second a new one', async () => {
    const desk = openDesk()
    const time = '2026-01-01T12:00:00Z'
    for (const refresh of ['refresh-1', 'refresh-2']) {
      const attributes = { refresh: JSON.stringify(refresh) }
      answer('obtain', obtainText({ now: noon, attributes, meta: metaText(time, refresh) }))
      expect(await desk.obtain()).toMatchObject({ refreshToken: refresh })
    }
    const attributes = { refresh: '"refresh-2"' }
    answer('obtain', obtainText({ now: noon, attributes, meta: metaText(time, 'refresh-2') }))
    await expectDistrusted(desk.obtain(), OLD)
  })

  it('when it is reset, then it has forgotten the time, and accepts another clock behind it', async () => {
    const desk = await atNoon()
    desk.source.reset!()
    answer('obtain', obtainText())
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when a forged response of tomorrow was rejected, then those of today are still accepted', async () => {
    const desk = await atNoon()
    const tomorrow = stamp(noon + 24 * HOUR)
    answer('obtain', obtainText({ meta: metaText(tomorrow, 'refresh-1', {}, { ...account, password: 'x' }) }))
    await expectDistrusted(desk.obtain())
    answer('obtain', answerOf('', '501'))
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when another source of the same account gets the old response, then that source accepts it', async () => {
    await atNoon()
    answer('obtain', answerOf('', '500'))
    expect(await openDesk().obtain()).toEqual(PAIR)
  })
})

describe('given a service whose clock was an hour ahead', () => {
  const answerAt = (now: number) => answer('obtain', obtainText({ now, meta: metaText(stamp(now)) }))

  /** A source that has accepted a response from an hour ahead. */
  async function anHourAhead() {
    const desk = openDesk()
    answerAt(desk.clock.wallNow() + HOUR)
    await desk.obtain()
    desk.reports.length = 0
    return desk
  }

  it.each([250, 5_000, 30_000])(
    'when the clock is correct again, then the second response, %d ms later, is accepted, and that is reported (F165)',
    async (ms) => {
      const desk = await anHourAhead()
      await desk.clock.advance(60_000)
      answerAt(desk.clock.wallNow())
      await expectDistrusted(desk.obtain(), OLD)
      expect(desk.reports).toEqual([])
      await desk.clock.advance(ms)
      answerAt(desk.clock.wallNow())
      expect(await desk.obtain()).toEqual(PAIR)
      expect(desk.reports).toEqual([{ kind: 'clock-skew', message: expect.stringMatching(/has set its clock back/) }])
      await desk.clock.advance(1)
      answerAt(desk.clock.wallNow())
      expect(await desk.obtain()).toEqual(PAIR)
    },
  )

  it.each([
    ['minutes apart', 0, 600_000],
    ['seconds apart, and hours old', HOUR / 2, 5_000],
  ])(
    'when two responses that were captured %s are replayed at their own pace, then they are rejected (F232)',
    async (_, ageMs, apartMs) => {
      const desk = await anHourAhead()
      const adapted = { Date: httpDate(desk.clock.wallNow() - ageMs) }
      for (const ms of [0, apartMs, apartMs]) {
        await desk.clock.advance(ms)
        const now = desk.clock.wallNow() - ageMs
        // The attacker also sets Date, which is not signed.
        answer('obtain', obtainText({ now, meta: metaText(stamp(now)) }), adapted)
        await expectDistrusted(desk.obtain(), OLD)
      }
    },
  )

  it('when one captured response is replayed, however often, then it is rejected (F79, F165)', async () => {
    const desk = await anHourAhead()
    const captured = desk.clock.wallNow()
    for (const ms of [250, 500, 0, 5_000, 60_000]) {
      answerAt(captured)
      await expectDistrusted(desk.obtain(), OLD)
      await desk.clock.advance(ms)
    }
  })

  it('when two captured responses are replayed at another pace, or in another order, then they are rejected (F165)', async () => {
    const desk = await anHourAhead()
    const captured = desk.clock.wallNow()
    for (const later of [0, 60_000, 0, 60_000]) {
      answerAt(captured + later)
      await expectDistrusted(desk.obtain(), OLD)
      await desk.clock.advance(500)
    }
  })

  it('when a manager renews, then that one renewal sees both responses (F165)', async () => {
    const clock = manualClock()
    let ahead = HOUR
    const adapter: AxiosAdapter = async (config) => {
      const now = clock.wallNow() + ahead
      const meta = metaText(stamp(now), '')
      return response(config, obtainText({ now, attributes: { refresh: undefined }, meta }))
    }
    const source = loginPassword({ ...account, baseUrl: HOST, transport: { adapter } })
    const tokens = createTokenManager({ source, clock, random: () => 0 })
    await tokens.getAccessToken()
    ahead = 0
    await clock.advance(1_000)
    const retries: object[] = []
    tokens.on('retry', (event) => retries.push(event))
    const renewed = tokens.renew()
    await clock.advance(0)
    expect(retries).toMatchObject([{ attempt: 1, error: { code: 'ERR_SIGNATURE' } }])
    await clock.advance(250)
    expect(tokens.status()).toMatchObject({ phase: 'fresh', renewing: false, counts: { obtains: 3, failures: 1 } })
    await renewed
    await tokens.close()
  })
})

describe('given verifySignature: false', () => {
  const off = { verifySignature: false }

  it('when the sign of an obtain response is wrong or missing, then the response is used, and its meta.time is trusted', async () => {
    for (const sign of ['"00"', undefined, '{}'])
      expect(await obtaining(obtainText(meta({ sign })), off).obtain()).toEqual(PAIR)
  })

  it('when the same response arrives again, then it is used again', async () => {
    const desk = obtaining(obtainText(), off)
    await desk.obtain()
    answer('obtain', obtainText())
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when a refresh response has a wrong sign, then it is used', async () => {
    const text = pairText().replace('{', `{"meta":{"time":"${stamp(NOW)}","sign":"00"},`)
    expect(await (await refreshing(text, off)).refresh()).toEqual(PAIR)
  })

  it.each<[string, string | undefined]>([
    ['no meta', undefined],
    ['null as meta', 'null'],
    ['an invalid time', '{"time":5}'],
  ])('when an obtain response has %s, then Date sets the time, rounded up to its next second', async (_, text) => {
    const desk = obtaining(obtainText({ meta: text }), off, { Date: httpDate(NOW - SECOND) })
    expect(await desk.obtain()).toEqual(PAIR)
  })

  it('when meta.time has no zone, then it is UTC, and trusted (F230)', async () => {
    const desk = obtaining(obtainText({ meta: '{"time":"2026-01-01 00:00:10"}' }), off)
    expect(await desk.obtain()).toMatchObject({ accessLifetimeMs: 50 * SECOND })
  })

  it('when both meta and Date are missing, then the wall clock is used, but not for a refresh token', async () => {
    const desk = obtaining(unsignedText(), off)
    desk.clock.stepWall(10 * SECOND)
    expect(await desk.obtain()).toEqual({ ...PAIR_OF_UNKNOWN_END, accessLifetimeMs: 50 * SECOND })
  })
})

describe('given a refresh response', () => {
  const next = { access: '"access-2"', refresh: '"refresh-2"' }
  const NEXT = { ...PAIR, accessToken: 'access-2', refreshToken: 'refresh-2' }
  const later = stamp(NOW, '001')
  const bare = pairText(next)
  const withMeta = (text: string) => bare.replace('{', `{"meta":${text},`)

  it.each<[string, string]>([
    ['bare, as in the specification (F65)', bare],
    ['wrapped in data (F66)', objectText({ data: bare })],
    ['both at once, of which data wins (F66)', pairText().replace('{', `{"data":${bare},`)],
    ['bare, with a meta of null (F67)', withMeta('null')],
    ['bare, with a valid meta (F67)', withMeta(metaText(later, 'refresh-2'))],
    ['wrapped, with a valid meta (F67)', objectText({ data: bare, meta: metaText(later, 'refresh-2') })],
  ])('when it is %s, then it returns the next token set (F65, F66, F67)', async (_, text) => {
    const desk = await refreshing(text)
    expect(await desk.refresh()).toEqual(NEXT)
    expect(desk.reports).toEqual([])
  })

  it('when its meta does not prove it, then the whole response is rejected (F67)', async () => {
    for (const text of [
      metaText(later, 'refresh-2', { sign: `"${'0'.repeat(64)}"` }),
      metaText(later, 'refresh-1'),
      metaText(later, 'refresh-2', { sign: '""' }),
      metaText(later, 'refresh-2', { sign: '5' }),
      metaText(later, 'refresh-2', { time: undefined }),
      metaText('2026-01-01T00:00:01', 'refresh-2'),
    ])
      await expectDistrusted((await refreshing(withMeta(text))).refresh())
  })

  it.each([
    '{}',
    '[]',
    '"text"',
    '{"count":1}',
    '{"sign":null}',
    metaText('2031-01-01T00:00:00Z', 'refresh-2', { sign: undefined }),
    metaText('garbage', 'refresh-2', { sign: undefined }),
  ])(
    'when its meta is %s, without a sign, then the token set is used, and its time proves nothing (F231)',
    async (text) => {
      const desk = await refreshing(withMeta(text))
      expect(await desk.refresh()).toEqual(NEXT)
      expect(desk.reports).toEqual([])
      // The clock of the service is still that of the obtain.
      answer('obtain', obtainText({ now: NOW + 1, meta: metaText(stamp(NOW, '001')) }))
      expect(await desk.obtain()).toMatchObject({ accessLifetimeMs: 60 * SECOND + 1 })
    },
  )

  it('when only a prototype has the sign of its meta, then it is not signed (F77, F231)', async () => {
    const desk = await refreshing(withMeta('{"__proto__":{"sign":"00"}}'))
    expect(await desk.refresh()).toEqual(NEXT)
  })

  it.each<[string, string]>([
    ['data that is null beside a valid token set', bare.replace('{', '{"data":null,')],
    ['another type', bare.replace('auth-token', 'auth-ticket')],
    ['attributes that are an array', '{"type":"auth-token","id":"7","attributes":[]}'],
    ['a refresh token that is a number', pairText({ ...next, refresh: '5' })],
    ['an empty refresh token', pairText({ ...next, refresh: '""' })],
    ['no access token', pairText({ ...next, access: undefined })],
    ['an access token that has expired', pairText({ ...next, access_expired_at: JSON.stringify(stamp(NOW)) })],
    ['errors', bare.replace('{', '{"errors":[{}],')],
    ['half a document', bare.slice(0, -1)],
    ['nothing', ''],
  ])('when it has %s, then it is rejected, and what became of the token set is unknown (F61, F62)', async (_, text) => {
    const desk = await refreshing(text)
    await expectUnusable(desk.refresh(), /cannot be used/)
  })

  it.each([undefined, 'null'])('when its refresh token is %s, then its access token is used (F68)', async (refresh) => {
    const desk = await refreshing(pairText({ ...next, refresh }))
    expect(await desk.refresh()).toEqual({ ...ACCESS_ALONE, accessToken: 'access-2' })
  })

  it('when it has the same refresh token, then it is used (F69)', async () => {
    expect(await (await refreshing(pairText())).refresh()).toEqual(PAIR)
  })

  it('when refresh_expired_at cannot be read, then the token set is used, with an unknown expiry, and reported (F70)', async () => {
    const desk = await refreshing(pairText({ refresh_expired_at: '"garbage"' }))
    expect(await desk.refresh()).toEqual(PAIR_OF_UNKNOWN_END)
    expect(desk.reports).toEqual([odd('refresh_expired_at')])
  })
})

describe('given clocks that differ', () => {
  it.each([
    [-365 * 24 * HOUR, [clockOff]],
    [-HOUR, [clockOff]],
    [-60_001, [clockOff]],
    [-60_000, []],
    [0, []],
    [60_000, []],
    [60_001, [clockOff]],
    [HOUR, [clockOff]],
  ])(
    'when ours is %d ms ahead, then lifetimes are right, and more than a minute is reported (F8, F9)',
    async (ms, told) => {
      const desk = obtaining(obtainText(), {}, { Date: httpDate(NOW) })
      desk.clock.stepWall(ms)
      expect(await desk.obtain()).toEqual(PAIR)
      expect(desk.reports).toEqual(told)
    },
  )

  it.each([
    [-365 * 24 * HOUR, [clockOff]],
    [-61 * SECOND, [clockOff]],
    [-60 * SECOND, []],
    [60 * SECOND, []],
    [61 * SECOND, [clockOff]],
    [365 * 24 * HOUR, [clockOff]],
  ])('when Date is %d ms ahead of meta.time, then meta.time counts (F15, F80)', async (ms, told) => {
    const desk = obtaining(obtainText(), {}, { Date: httpDate(NOW + ms) })
    expect(await desk.obtain()).toEqual(PAIR)
    expect(desk.reports).toEqual(told)
  })

  it.each([-HOUR, 0, HOUR])(
    'when ours is %d ms ahead and a token set is refreshed later, then the last meta.time is carried forward (F14)',
    async (ms) => {
      const desk = obtaining(obtainText())
      desk.clock.stepWall(ms)
      await desk.obtain()
      await desk.clock.advance(50 * SECOND)
      answer('refresh', pairText({}, NOW + 50 * SECOND), { Date: httpDate(NOW + 365 * 24 * HOUR) })
      expect(await desk.refresh()).toEqual(PAIR)
    },
  )

  it.each([
    ['2 s ahead: no jump', 2_000, 60 * SECOND],
    ['2 s behind: no jump', -2_000, 60 * SECOND],
    ['more ahead', 2_001, 29 * SECOND],
    ['more behind', -2_001, 29 * SECOND],
  ])(
    'when our wall clock moves %s, then Date counts after a jump, rounded up to its next second',
    async (_, ms, accessLifetimeMs) => {
      const desk = obtaining(obtainText())
      await desk.obtain()
      await desk.clock.advance(50 * SECOND)
      desk.clock.stepWall(ms)
      answer('refresh', pairText({}, NOW + 50 * SECOND), { Date: httpDate(NOW + 80 * SECOND) })
      expect((await desk.refresh()).accessLifetimeMs).toBe(accessLifetimeMs)
    },
  )

  it('when our wall clock jumps and there is no Date, then the last meta.time still counts (F14)', async () => {
    const desk = obtaining(obtainText())
    await desk.obtain()
    desk.clock.stepWall(24 * HOUR)
    answer('refresh', pairText())
    expect(await desk.refresh()).toEqual(PAIR)
  })

  it('when a source starts with a refresh, then Date counts; without it our wall clock, for the access token only', async () => {
    answer('refresh', pairText(), { Date: httpDate(NOW - SECOND) })
    const desk = openDesk()
    desk.clock.stepWall(HOUR)
    expect(await desk.refresh()).toEqual(PAIR)
    answer('refresh', pairText({}, NOW + HOUR))
    expect(await desk.refresh()).toEqual(PAIR_OF_UNKNOWN_END)
  })

  it('when a signed refresh response has a later time, then that one is carried forward', async () => {
    const desk = obtaining(obtainText())
    await desk.obtain()
    const now = NOW + HOUR
    answer('refresh', pairText({}, now).replace('{', `{"meta":${metaText(stamp(now))},`))
    expect(await desk.refresh()).toEqual(PAIR)
    expect(desk.reports).toEqual([clockOff])
    await desk.clock.advance(SECOND)
    answer('refresh', pairText({}, now + SECOND))
    expect(await desk.refresh()).toEqual(PAIR)
  })
})

describe('given responses that take five seconds (F19)', () => {
  /** Responds after five seconds. */
  const slowly = (desk: ReturnType<typeof openDesk>, exchange: keyof typeof PATHS, text: string) =>
    nock(HOST)
      .post(PATHS[exchange])
      .reply(async () => {
        await desk.clock.advance(5 * SECOND)
        return [200, text]
      })

  it('when the request was received at once, then lifetimes count from then', async () => {
    const desk = openDesk()
    slowly(desk, 'obtain', obtainText())
    expect(await desk.obtain()).toEqual(PAIR)
    slowly(desk, 'refresh', pairText({}, NOW + 5 * SECOND))
    expect(await desk.refresh()).toEqual(PAIR)
  })

  it('when the request was received at the end, then no lifetime is too long, counted from sending', async () => {
    const desk = openDesk()
    slowly(desk, 'obtain', obtainText({ now: NOW + 5 * SECOND }))
    expect(await desk.obtain()).toEqual(PAIR)
    // The source sends the refresh when its reading of the service's clock is 10 s, and the token set is issued at 10 s.
    slowly(desk, 'refresh', pairText({}, NOW + 10 * SECOND))
    expect(await desk.refresh()).toEqual(PAIR)
  })

  it('when a refresh is issued at the end, then its lifetime counts from sending', async () => {
    const desk = obtaining(obtainText())
    await desk.obtain()
    slowly(desk, 'refresh', pairText({}, NOW + 5 * SECOND))
    expect((await desk.refresh()).accessLifetimeMs).toBe(65 * SECOND)
  })

  it('when the credentials take that time, then the request is sent after it', async () => {
    const desk = openDesk({
      credentials: async () => {
        await desk.clock.advance(5 * SECOND)
        return account
      },
    })
    answer('obtain', obtainText({ now: NOW + 5 * SECOND }))
    await desk.obtain()
    answer('refresh', pairText({}, NOW + 5 * SECOND))
    expect(await desk.refresh()).toEqual(PAIR)
    expect(desk.reports).toEqual([])
  })
})

describe('given options', () => {
  it('when verifySignature is not a boolean, then a TypeError names it', () => {
    for (const verifySignature of ['true', 'false', 0, 1, '', null, {}]) {
      const error = misuse(() => openDesk({ verifySignature }))
      expect(error).toBeInstanceOf(TypeError)
      expect(error.message).toMatch(/^verifySignature must be true or false, got /)
    }
  })

  it('when verifySignature is undefined, then signatures are verified', async () => {
    await expectDistrusted(obtaining(unsignedText(), { verifySignature: undefined }).obtain())
  })

  it.each(['login', 'password'])(
    'when %s is not a string that can be sent, then a TypeError names it (F90, F91)',
    (name) => {
      for (const value of [
        undefined,
        '',
        null,
        5,
        {},
        ['x'],
        'hidden-value\0',
        'hidden-value\ud800',
        '\udc00hidden-value',
      ]) {
        const error = misuse(() => openDesk({ [name]: value }))
        expect(error).toBeInstanceOf(TypeError)
        expect(error.message).toMatch(new RegExp(`^${name} must `))
        expect(logged(error)).not.toMatch(/hidden-value|of-nobody/)
      }
    },
  )

  it('when the credentials of Variant A are given, then a TypeError names the valid options', () => {
    const given = { login: undefined, password: undefined, clientId: 'a', clientSecret: 'b' }
    expect(misuse(() => openDesk(given)).message).toMatch(/ there is no 'clientId', use .* login, password, /)
  })

  it('when there are none, then a TypeError reports it', () => {
    for (const options of [undefined, null, 'https://tokens.example', 5])
      expect(misuse(() => loginPassword(options as never)).message).toMatch(
        /^The options of loginPassword must be an obj/,
      )
  })
})

describe('given a function that provides credentials', () => {
  /** A function that returns other credentials at each call. */
  function changing() {
    const asked: (typeof account)[] = []
    const credentials = async () => {
      const given = { login: `login-${asked.length + 1}`, password: `password-${asked.length + 1}` }
      asked.push({ ...given })
      return given
    }
    return { asked, credentials }
  }
  const signedBy = (n: number, now = NOW) =>
    metaText(stamp(now), 'refresh-1', {}, { login: `login-${n}`, password: `password-${n}` })

  it('when its result differs each time, then each exchange sends and verifies one result (F92)', async () => {
    const { asked, credentials } = changing()
    const bodies: unknown[] = []
    const desk = openDesk({ credentials })
    for (const n of [1, 2]) {
      nock(HOST)
        .post(PATHS.obtain, (body) => bodies.push((body as { data: { attributes: unknown } }).data.attributes) > 0)
        .reply(200, obtainText({ meta: signedBy(n, NOW + n) }))
      await desk.obtain()
    }
    expect(asked).toHaveLength(2)
    expect(bodies).toEqual(asked)
    answer('obtain', obtainText({ meta: signedBy(2, NOW + 3) }))
    await expectDistrusted(desk.obtain())
  })

  it('when its result is changed while the request is in flight, then what was sent is verified (F92)', async () => {
    const given = { ...account }
    const adapter: AxiosAdapter = async (config) => {
      Object.assign(given, { login: 'changed', password: 'changed' })
      return response(config, obtainText())
    }
    expect(await deskBehind(adapter, { credentials: () => given }).obtain()).toEqual(PAIR)
  })

  it('when a refresh response has no meta, then the function is not called; with meta, once', async () => {
    const { asked, credentials } = changing()
    const desk = openDesk({ credentials })
    answer('refresh', pairText())
    await desk.refresh()
    expect(asked).toHaveLength(0)
    answer('refresh', pairText().replace('{', `{"meta":${signedBy(1)},`))
    expect(await desk.refresh()).toEqual(PAIR)
    expect(asked).toHaveLength(1)
  })

  it('when it fails before an obtain, then nothing is sent', async () => {
    const scope = answer('obtain', obtainText())
    for (const [credentials, code] of [
      [() => Promise.reject(new Error('vault sealed')), 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
      [() => ({ login: 'a', password: '' }), 'ERR_TOKEN_SOURCE'],
      [() => undefined, 'ERR_TOKEN_SOURCE'],
    ] as const)
      expect(await failureOf(openDesk({ credentials }).obtain())).toMatchObject({ code, outcome: 'not-sent' })
    expect(scope.isDone()).toBe(false)
  })

  it('when it fails after the response to a refresh, then the outcome is not `not-sent`', async () => {
    const credentials = () => Promise.reject(new Error('vault sealed'))
    answer('refresh', pairText().replace('{', `{"meta":${signedBy(1)},`))
    const error = await failureOf(openDesk({ credentials }).refresh())
    // With `not-sent`, the manager would present the used refresh token again, which looks like theft to the service.
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown', status: 200 })
    expect(error.message).toMatch(/ could not be verified: the credentials function failed$/)
  })

  it('when it fails after the response to a refresh, and nothing is verified, then the token set is used', async () => {
    const credentials = () => Promise.reject(new Error('vault sealed'))
    answer('refresh', pairText().replace('{', `{"meta":${signedBy(1)},`))
    expect(await openDesk({ credentials, verifySignature: false }).refresh()).toEqual(PAIR)
  })
})

describe('given a source', () => {
  it('when its id is read, then it tells variant, address and account apart', () => {
    const idOf = (options: object = {}) => openDesk(options).source.id
    const ids = [
      idOf(),
      idOf({ login: 'another' }),
      idOf({ baseUrl: `${HOST}/other` }),
      idOf({ baseUrl: 'https://other.example/api' }),
      idOf({ credentials: () => account, account: 'third' }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).not.toContain('')
    expect(idOf({ password: 'another', baseUrl: `${HOST}/api/`, verifySignature: false })).toBe(idOf())
    expect(idOf({ credentials: () => account, account: account.login })).toBe(idOf())
    expect(idOf({ credentials: () => account })).toBe('')
    expect(idOf()).toMatch(/^variant-b /)
    expect(idOf()).not.toContain(account.password)
  })

  it('when its origin is read, then it is that of the service', () => {
    expect(openDesk({ baseUrl: `${HOST}:8443/api?x=1` }).source.origin).toBe(`${HOST}:8443`)
  })

  it('when it is printed before and after its exchanges, then nothing is shown', async () => {
    const desk = await refreshing(pairText())
    await desk.refresh()
    for (const source of [desk.source, openDesk().source]) {
      expect(logged(source)).not.toMatch(/of-nobody|refresh-1|access-1/)
      expect([JSON.stringify(source), structuredClone(source)]).toEqual(['{}', {}])
    }
  })
})

describe('given the simulated service', () => {
  const opened: SimulatedService[] = []

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((service) => service.close()))
  })

  async function startedDesk(options: SimulatedServiceOptions = {}) {
    const service = await startTokenService(options)
    opened.push(service)
    const { baseUrl, login } = service
    // The simulated service uses the clock of this machine.
    return { service, desk: openDesk({ baseUrl, ...login }, systemClock as never) }
  }

  it.each([-HOUR, 0, HOUR])('when its clock is %d ms ahead, then token sets are obtained and refreshed', async (ms) => {
    const { service, desk } = await startedDesk({ clockOffsetMs: ms })
    const first = await desk.obtain()
    expect(first).toMatchObject({ accessLifetimeMs: 60 * SECOND, refreshLifetimeMs: 6 * HOUR })
    const second = await desk.refresh(first.refreshToken)
    expect(second.refreshToken).not.toBe(first.refreshToken)
    // These clocks are real, so the test rounds to the minute. A wrong clock would be off by an hour.
    expect(Math.round(second.accessLifetimeMs / 60_000)).toBe(1)
    expect(Math.round(second.refreshLifetimeMs! / HOUR)).toBe(6)
    expect(desk.reports.map(({ kind }) => kind)).toEqual(ms === 0 ? [] : ['clock-skew'])
    expect(service.log.map(({ kind, path, status }) => [kind, path, status])).toEqual([
      ['obtain', '/token/', 200],
      ['refresh', '/token/refresh/', 200],
    ])
  })

  it('when it corrupts a signature, then that response is rejected and the next one accepted', async () => {
    const { service, desk } = await startedDesk()
    service.failNext('obtain', { corrupt: 'signature' })
    await expectDistrusted(desk.obtain())
    await desk.obtain()
    await desk.obtain()
    expect(service.count('obtain')).toBe(3)
  })

  it('when a refresh token is used twice, then the second use is rejected', async () => {
    const { desk } = await startedDesk()
    const { refreshToken } = await desk.obtain()
    await desk.refresh(refreshToken)
    expect(await failureOf(desk.refresh(refreshToken))).toMatchObject({
      code: 'ERR_REFRESH_REJECTED',
      outcome: 'rejected',
      status: 401,
      serviceCode: '2007',
    })
  })

  it('when the password is wrong, then the credentials are rejected', async () => {
    const { service } = await startedDesk()
    const desk = openDesk({ baseUrl: service.baseUrl, ...service.login, password: 'wrong' })
    expect(await failureOf(desk.obtain())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED', serviceCode: '2006' })
  })
})
