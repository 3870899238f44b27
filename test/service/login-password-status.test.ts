/** Variant B over HTTP: what is sent, what each status means (sections 7.2 and 7.3), and what no failure may show. */
import { describe, expect, it } from '@jest/globals'
import { AxiosError, type AxiosAdapter } from 'axios'
import nock from 'nock'
import { CANARY, logged } from '../support/canary.ts'
import {
  account,
  answer,
  behindNock,
  type Desk,
  deskBehind,
  HOST,
  metaText,
  NOW,
  obtainText,
  openDesk,
  pairText,
  PATHS,
  stamp,
  tagOf,
  unsignedText,
} from './variant-b.ts'
import { failureOf, misuse, response, serve } from './world.ts'

behindNock()

const MEDIA_TYPE = 'application/vnd.api+json'

describe('given a service on loopback that records its requests', () => {
  const tokens = [obtainText(), pairText({}, NOW)]
  const recording = () =>
    serve((_, reply) => {
      reply.sendDate = false
      reply.end(tokens[reply.req.url?.includes('refresh') ? 1 : 0])
    })

  it.each(['http', 'fetch'])(
    'when a token set is obtained and refreshed over %s, then the two documents of the specification are sent',
    async (adapter) => {
      const { origin, seen } = await recording()
      const desk = openDesk({ baseUrl: `${origin}/api/`, transport: { adapter } })
      await desk.obtain()
      await desk.refresh('the "first" refresh-tökén')
      expect(seen.map(({ method, url }) => [method, url])).toEqual([
        ['POST', '/api/token/'],
        ['POST', '/api/token/refresh/'],
      ])
      expect(seen.map(({ body }) => JSON.parse(body) as unknown)).toEqual([
        { data: { type: 'auth-token', attributes: { login: account.login, password: account.password } } },
        { data: { type: 'auth-token', attributes: { refresh: 'the "first" refresh-tökén' } } },
      ])
      for (const { headers, body } of seen) {
        expect(headers).toMatchObject({ 'content-type': MEDIA_TYPE, accept: MEDIA_TYPE })
        expect(headers['content-length']).toBe(String(Buffer.byteLength(body)))
        expect([headers.authorization, headers.cookie]).toEqual([undefined, undefined])
      }
    },
  )

  it('when the base URL is spelled in any form, then a refresh is sent to one path (F76)', async () => {
    for (const [suffix, path] of [
      ['', '/token/refresh/'],
      ['/', '/token/refresh/'],
      ['//a///b', '/a/b/token/refresh/'],
      ['/a/?v=1#top', '/a/token/refresh/?v=1'],
    ]) {
      const { origin, seen } = await recording()
      await openDesk({ baseUrl: origin + suffix! }).refresh()
      expect(seen.map(({ url }) => url)).toEqual([path])
    }
  })
})

const throttled = { code: 'ERR_THROTTLED', outcome: 'deferred', retryable: true }
const failed = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx', retryable: true }
const gaveUp = { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown', retryable: true }
const misdirected = { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected', retryable: false }
const rejected = { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected', retryable: false }
const refused = { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', retryable: true }
const retired =
  /check baseUrl and its trailing slash; for an OAuth 2.0 server use oauth2 of axios-evergreen\/oauth2; Variant B \(login and password\) may have been retired: its support ended on 1 December 2025$/
const variant = /check baseUrl, and that the service uses Variant B \(login and password\)$/
const kept = { ...misdirected, refreshToken: 'kept' }
const gone = (hint: RegExp) =>
  new RegExp(`: the refresh endpoint may be gone, while the credentials may still work; ${hint.source}`)

interface Row {
  exchange: 'obtain' | 'refresh'
  status: number
  serviceCode?: string
  expected: { code: string; outcome: string; retryable: boolean; refreshToken?: string }
  advice: RegExp
}

const rows = (exchange: Row['exchange'], expected: Row['expected'], advice: RegExp, statuses: number[]): Row[] =>
  statuses.map((status) => ({ exchange, status, expected, advice }))

const both = (expected: Row['expected'], advice: RegExp, statuses: number[]) =>
  (['obtain', 'refresh'] as const).flatMap((exchange) => rows(exchange, expected, advice, statuses))

const TABLE: Row[] = [
  // 7.2
  {
    ...rows(
      'obtain',
      rejected,
      /check the credentials and baseUrl, and that the service uses Variant B \(login and password\)$/,
      [400],
    )[0]!,
    serviceCode: '2006',
  },
  {
    ...rows('obtain', throttled, /too many token requests: let all processes of the account share a store$/, [429])[0]!,
    serviceCode: 'throttled',
  },
  // 7.3
  {
    ...rows('refresh', { ...refused, refreshToken: 'refused' }, /the refresh token was rejected$/, [401])[0]!,
    serviceCode: '2007',
  },
  // both
  ...both(failed, /the token service failed$/, [500, 502, 503, 504, 501, 599]),
  // Not in the tables, but in the field notes, the design and F58.
  ...rows(
    'obtain',
    rejected,
    /check the credentials and baseUrl, and that the service uses Variant B \(login and password\)$/,
    [401, 403],
  ),
  ...rows('refresh', { ...refused, refreshToken: 'unusable' }, /the refresh token was rejected$/, [400]),
  ...rows('refresh', { ...refused, refreshToken: 'kept' }, /the refresh token was rejected$/, [403]),
  ...rows('refresh', throttled, /too many token requests: let all processes of the account share a store$/, [429]),
  ...rows('obtain', misdirected, retired, [404, 410]),
  ...rows('obtain', misdirected, variant, [405, 415, 422]),
  // The refresh endpoint may be gone (F229): the refresh token is untouched.
  ...rows('refresh', kept, gone(retired), [404, 410]),
  ...rows('refresh', kept, gone(variant), [405, 415, 422]),
  ...both(misdirected, variant, [402, 406, 409, 418, 451]),
  ...both(misdirected, /a redirect without a valid target; check baseUrl$/, [307]),
  ...both(gaveUp, /the token service did not complete the request$/, [408, 425]),
]

describe('given the tables of sections 7.2 and 7.3', () => {
  it.each(['obtain', 'refresh'] as const)(
    'when the response to %s is 200, then it returns the token set',
    async (exchange) => {
      answer(exchange, exchange === 'obtain' ? obtainText() : pairText(), { 'Content-Type': MEDIA_TYPE })
      expect(await openDesk()[exchange]()).toMatchObject({ accessToken: 'access-1', refreshToken: 'refresh-1' })
    },
  )

  it.each(TABLE)(
    'when the response to $exchange is $status, then it is $expected.code, $expected.outcome (F51, F55, F58, F59, F229)',
    async ({ exchange, status, serviceCode, expected, advice }) => {
      const body = serviceCode === undefined ? '{}' : `{"errors":[{"code":"${serviceCode}"}]}`
      const scope = answer(exchange, body, {}, status)
      const error = await failureOf(openDesk()[exchange]())
      expect(scope.isDone()).toBe(true)
      expect(error).toMatchObject({ ...expected, status })
      expect(error.serviceCode).toBe(serviceCode)
      expect(error.refreshToken).toBe(expected.refreshToken)
      expect(error.message).toMatch(advice)
      expect(error.message.startsWith(`${HOST}${PATHS[exchange]} responded with ${status}: `)).toBe(true)
    },
  )

  it.each([
    ['obtain', 400, '2007', 'ERR_CREDENTIALS_REJECTED'],
    ['obtain', 503, '2006', 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    ['refresh', 401, '2006', 'ERR_REFRESH_REJECTED'],
    ['refresh', 401, 'throttled', 'ERR_REFRESH_REJECTED'],
    ['refresh', 500, '2007', 'ERR_TOKEN_SERVICE_UNAVAILABLE'],
    ['refresh', 404, '2007', 'ERR_TOKEN_REQUEST'],
  ] as const)('when %s meets %i with code %s, then the status decides: %s', async (exchange, status, word, code) => {
    answer(exchange, `{"detail":"…","code":"${word}"}`, {}, status)
    expect(await failureOf(openDesk()[exchange]())).toMatchObject({ code, status, serviceCode: word })
  })

  it('when a refresh is throttled, then Retry-After is reported', async () => {
    answer('refresh', '', { 'Retry-After': '7' }, 429)
    expect((await failureOf(openDesk().refresh())).retryAfterMs).toBe(7_000)
  })
})

/** Marks that occur nowhere else. */
const LOGIN = 'canary-login-7f3a9c'
const PASSWORD = 'canary-password-5be12d'
const ACCESS = 'canary-access-c08e41'
const REFRESH = 'canary-refresh-93d7aa'
const SIGN = 'canary-sign-1d20f6'
const marked = { login: LOGIN, password: PASSWORD }
/** The right tag is a secret too, because a forger could use it. */
const TAG = tagOf(stamp(NOW), REFRESH, marked)

const issued = { access: `"${ACCESS}"`, refresh: `"${REFRESH}"` }
const signedMeta = (changes: Record<string, string | undefined> = {}) => metaText(stamp(NOW), REFRESH, changes, marked)
const signed = (attributes: Record<string, string | undefined> = {}) =>
  obtainText({ attributes: { ...issued, ...attributes }, meta: signedMeta() })

describe('given marked credentials, tokens and a tag (P15)', () => {
  const exchanges = { obtain: (desk: Desk) => desk.obtain(), refresh: (desk: Desk) => desk.refresh(REFRESH) }

  async function expectSilent(
    what: string,
    exchange: keyof typeof exchanges,
    adapter: AxiosAdapter,
    options: object = marked,
  ): Promise<void> {
    const desk = deskBehind(adapter, options)
    const error = await failureOf(exchanges[exchange](desk))
    const text = logged(error) + logged([desk.source, desk.reports])
    expect([what, CANARY.exec(text), text.includes(TAG)]).toEqual([what, null, false])
  }

  it('when a rejection quotes all of them, then the error shows none', async () => {
    for (const status of [307, 400, 401, 403, 404, 410, 425, 429, 503, 600])
      for (const exchange of ['obtain', 'refresh'] as const)
        await expectSilent(`${exchange} ${status}`, exchange, async (config) => {
          const quoted = `${String(config.data)} ${LOGIN} ${PASSWORD} ${ACCESS} ${REFRESH} ${SIGN}`
          const sent = (JSON.parse(config.data as string) as { data: { attributes: Record<string, string> } }).data
          const code = Object.values(sent.attributes)[0]
          const headers = { location: `https://elsewhere.example/${REFRESH}`, 'retry-after': SIGN, date: ACCESS }
          return response(config, JSON.stringify({ errors: [{ code, detail: quoted }] }), status, headers)
        })
  })

  it('when a response is unusable or untrusted, then the error shows none of them', async () => {
    const withMeta = (changes: Record<string, string | undefined>) =>
      obtainText({ attributes: issued, meta: signedMeta(changes) })
    const answers: ['obtain' | 'refresh', string, string][] = [
      ['obtain', 'a wrong sign', withMeta({ sign: `"${SIGN}"` })],
      ['obtain', 'a sign that is no text', withMeta({ sign: `["${SIGN}"]` })],
      ['obtain', 'a time that is none', withMeta({ time: `"${SIGN}"` })],
      ['obtain', 'no meta', unsignedText(issued)],
      ['obtain', 'another refresh token', signed({ refresh: `"${REFRESH}-2"` })],
      ['obtain', 'an expiry that is none', signed({ access_expired_at: `"${ACCESS}"` })],
      ['obtain', 'an expiry that has passed', signed({ access_expired_at: `"${stamp(NOW - 1)}"` })],
      ['obtain', 'an access token in a list', signed({ access: `["${ACCESS}"]` })],
      ['obtain', 'an access token with a space', signed({ access: `"${ACCESS} ${SIGN}"` })],
      ['obtain', 'another type', signed().replace('auth-token', SIGN)],
      ['obtain', 'half a document', signed().slice(0, -3)],
      ['obtain', 'errors', signed().replace('{', `{"errors":["${SIGN}"],`)],
      ['refresh', 'a refresh token in a list', pairText({ ...issued, refresh: `["${REFRESH}"]` })],
      ['refresh', 'an expiry that is none', pairText({ ...issued, access_expired_at: `"${REFRESH}"` })],
      ['refresh', 'no expiry', pairText({ ...issued, access_expired_at: undefined, expires_in: `"${ACCESS}"` })],
      ['refresh', 'a wrong sign', pairText(issued).replace('{', `{"meta":${signedMeta({ sign: `"${SIGN}"` })},`)],
    ]
    for (const [exchange, what, text] of answers)
      await expectSilent(`${exchange}: ${what}`, exchange, async (config) => response(config, text))
  })

  it('when the request fails with all of them in the failure, then the error shows none', async () => {
    for (const exchange of ['obtain', 'refresh'] as const) {
      await expectSilent('an axios error', exchange, async (config) => {
        throw new AxiosError(`${PASSWORD} ${REFRESH}`, 'ERR_NETWORK', config, { body: config.data as unknown })
      })
      await expectSilent('an error', exchange, async (config) => {
        throw new Error(String(config.data), { cause: config })
      })
    }
  })

  it('when nock has no such request, then the error shows none of them', async () => {
    nock(HOST).post('/elsewhere').reply(200)
    const desk = openDesk(marked)
    for (const exchange of Object.values(exchanges)) expect(logged(await failureOf(exchange(desk)))).not.toMatch(CANARY)
  })

  it('when a function returns unusable values, then the error shows none of them', async () => {
    const failing: [string, () => unknown][] = [
      ['half of them', () => ({ login: LOGIN })],
      ['them with NUL', () => ({ login: LOGIN, password: `${PASSWORD}\0` })],
      ['them, thrown', () => Promise.reject(Object.assign(new Error('sealed'), marked))],
    ]
    const text = pairText(issued).replace('{', `{"meta":${signedMeta()},`)
    for (const [what, credentials] of failing) {
      const options = { credentials, account: LOGIN }
      await expectSilent(what, 'obtain', async (config) => response(config, signed()), options)
      await expectSilent(what, 'refresh', async (config) => response(config, text), options)
    }
  })

  it('when a valid response is unexpected, then the reports and the printed source show none of them', async () => {
    const odd = signed({ refresh_expired_at: `"${SIGN}"`, is_2fa_confirmed: `"${SIGN}"` }).replace('"id":"7"', '"id":7')
    const desk = deskBehind(
      async (config) => response(config, odd, 200, { date: 'Wed, 01 Jan 2025 00:00:00 GMT' }),
      marked,
    )
    expect((await desk.obtain()).accessToken).toBe(ACCESS)
    expect(desk.reports.map(({ kind }) => kind).sort()).toEqual([
      'clock-skew',
      'unexpected-response',
      'unexpected-response',
    ])
    expect(logged([desk.source, desk.reports])).not.toMatch(CANARY)
  })

  it('when options are invalid, then the TypeError shows none of them', () => {
    for (const wrong of [
      { login: `${LOGIN}\0` },
      { password: `${PASSWORD}\ud800` },
      { credentials: () => marked, ...marked },
      { verifySignature: { PASSWORD } },
      { baseUrl: `https://${LOGIN}:${PASSWORD}@tokens.example` },
    ])
      expect(logged(misuse(() => openDesk({ ...marked, ...wrong })))).not.toMatch(CANARY)
  })
})
