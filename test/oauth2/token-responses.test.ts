import { describe, expect, it } from '@jest/globals'
import { answering, failureOf } from '../service/world.ts'
import { client, ENDPOINT, exchanged, GRANT, sourceBehind } from './world.ts'
import { manualClock } from '../../tools/testing/index.ts'
import type { OAuth2Options } from '../../src/oauth2/index.ts'

const source = (answer: unknown, options: Partial<OAuth2Options> = {}) =>
  sourceBehind(answering(typeof answer === 'string' ? answer : JSON.stringify(answer)), options)
const without = (name: keyof typeof GRANT) => ({ ...GRANT, [name]: undefined })

describe('given a usable response with status 200', () => {
  it.each([
    ['is that of RFC 6749, section 5.1', GRANT],
    ['has other members', { ...GRANT, 'not-before-policy': 0, id_token: 'i', __proto__: { error: 'x' } }],
    ['has bearer in lower case', { ...GRANT, token_type: 'bearer' }],
    ['has null for missing values', { ...GRANT, error: null, refresh_token: null }],
    ['has BearerToken, like Apigee', { ...GRANT, token_type: 'BearerToken', refresh_token_expires_in: '0' }],
  ])('when it %s, then it is used', async (_, answer) => {
    expect(await exchanged(source(answer))).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 3_600_000 },
      reports: [],
    })
  })

  it('when a refresh response has the next refresh token, then both tokens are used', async () => {
    const answer = { ...GRANT, refresh_token: 'next' }
    expect((await exchanged(source(answer), 'r')).grant).toEqual({
      accessToken: 'issued-token',
      accessLifetimeMs: 3_600_000,
      refreshToken: 'next',
    })
  })

  it('when refresh_token is an empty string, then there is none', async () => {
    const one = source({ ...GRANT, refresh_token: '', refresh_expires_in: 90 })
    expect((await exchanged(one, 'r')).grant).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 3_600_000 })
  })

  it.each([
    [{ refresh_token_expires_in: 90 }, 90_000],
    [{ refresh_expires_in: 1.5 }, 1_500],
    [{ refresh_expires_in: 0 }, undefined],
    [{ refresh_expires_in: '90' }, 90_000],
    [{ refresh_expires_in: '0' }, undefined],
    [{ refresh_expires_in: '9e1' }, undefined],
    [{ refresh_expires_in: 'never' }, undefined],
    [{ refresh_token_expires_in: -1 }, undefined],
  ])('when the response has %j, then the refresh token lives %p ms', async (members, refreshLifetimeMs) => {
    const { grant } = await exchanged(source({ ...GRANT, refresh_token: 'next', ...members }), 'r')
    expect(grant.refreshLifetimeMs).toBe(refreshLifetimeMs)
  })

  it('when it has no expires_in, then the default applies, and that is reported once', async () => {
    const one = source(without('expires_in'))
    expect(await exchanged(one)).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 300_000 },
      reports: ['unexpected-response: The token response has no expires_in: 300000 ms are assumed'],
    })
    expect((await exchanged(one, 'r')).reports).toEqual([])
    const other = source(without('expires_in'), { defaultLifetimeMs: 60_000 })
    expect((await exchanged(other)).grant.accessLifetimeMs).toBe(60_000)
  })

  // Microsoft Entra v1, Apigee.
  it('when its expires_in is a string of digits, then that applies, and is reported once (F17)', async () => {
    const one = source({ ...GRANT, expires_in: '060' })
    expect(await exchanged(one)).toEqual({
      grant: { accessToken: 'issued-token', accessLifetimeMs: 60_000 },
      reports: ['unexpected-response: The token response has expires_in as text'],
    })
    expect((await exchanged(one)).reports).toEqual([])
  })

  it('when it has no token_type, then Bearer is assumed, and that is reported once', async () => {
    const one = source(without('token_type'))
    expect((await exchanged(one)).reports).toEqual([
      'unexpected-response: The token response has no token_type: Bearer is assumed',
    ])
    expect((await exchanged(one)).reports).toEqual([])
  })

  it('when it lacks two members, then one report names both: a second within a minute would be dropped', async () => {
    const { reports } = await exchanged(source({ access_token: 'issued-token' }))
    expect(reports).toEqual([
      'unexpected-response: The token response has no token_type: Bearer is assumed; it has no expires_in: 300000 ms are assumed',
    ])
  })

  it.each([
    ['read write', 'read', ['write']],
    ['read write admin', 'admin', ['read', 'write']],
    ['repo gist', 'gist,repo', undefined],
    ['repo gist', 'gist,user', ['repo']],
    ['read', 'write read', undefined],
    ['read', undefined, undefined],
    ['openid offline_access api://x/.default', 'User.Read', undefined],
    [undefined, 'read', undefined],
    ['read', '', ['read']],
  ])('when %p was requested and %p is granted, then %p is reported as missing', async (scope, granted, missing) => {
    const { reports } = await exchanged(source({ ...GRANT, scope: granted }, { scope }))
    const words = missing?.join(' ')
    expect(reports).toEqual(
      words === undefined
        ? []
        : [`unexpected-response: The token response grants less than requested: ${words} is missing from its scope`],
    )
  })
})

describe('given an unusable response with status 200', () => {
  const other = 'use clientCredentials() or loginPassword() of axios-evergreen if this is their service'

  it.each([
    ['HTML', ' <!doctype html><title>Log in</title>', 'it is HTML; check tokenEndpoint'],
    ['nothing', '', 'it is not a JSON object'],
    ['a form, like that of GitHub without Accept', 'access_token=hidden&token_type=bearer', 'it is not a JSON object'],
    ['an array', [GRANT], 'it is not a JSON object'],
    ['no access_token', without('access_token'), 'access_token must be a non-empty string'],
    ['an empty access_token', { ...GRANT, access_token: '' }, 'access_token must be a non-empty string'],
    ['an access_token that is not a string', { ...GRANT, access_token: 5 }, 'access_token must be a non-empty string'],
    ['DPoP', { ...GRANT, token_type: 'DPoP' }, 'token_type must be Bearer, got DPoP'],
    ['a long type', { ...GRANT, token_type: 'x'.repeat(33) }, 'token_type must be Bearer, got something else'],
    ['MAC', { ...GRANT, token_type: 'mac' }, 'token_type must be Bearer, got mac'],
    ['a type that is a token', { ...GRANT, token_type: 'issued-token' }, 'must be Bearer, got something else'],
    ['expires_in as a word', { ...GRANT, expires_in: '1h' }, 'expires_in must be a positive number of seconds'],
    [
      'expires_in that is not a number',
      { ...GRANT, expires_in: '' },
      'expires_in must be a positive number of seconds',
    ],
    ['expires_in of 0 as a string', { ...GRANT, expires_in: '0' }, 'expires_in must be a positive number of seconds'],
    ['expires_in in an array', { ...GRANT, expires_in: [60] }, 'expires_in must be a positive number of seconds'],
    ['expires_in of 0', { ...GRANT, expires_in: 0 }, 'expires_in must be a positive number of seconds'],
    ['a negative expires_in', { ...GRANT, expires_in: -1 }, 'expires_in must be a positive number of seconds'],
    [
      'an infinite expires_in',
      `{"access_token":"a","token_type":"Bearer","expires_in":1e400}`,
      'expires_in must be a positive',
    ],
    ['a refresh_token that is not a string', { ...GRANT, refresh_token: {} }, 'refresh_token must be a string'],
    ['an error of several words', { ...GRANT, error: 'Bad code' }, 'it has an error although its status is a success'],
    ['an error that is an object', { error: { code: 5 } }, 'it has an error although its status is a success'],
    [
      'a wrapped token (F194)',
      { data: { type: 'auth-token', attributes: {} } },
      `it is not OAuth 2.0 (data): ${other}`,
    ],
    ['an errors document (F194)', { errors: [{ status: '400' }] }, `it is not OAuth 2.0 (errors): ${other}`],
  ])('when it is %s, then no part of it is used', async (_, answer, why) => {
    for (const refreshToken of [undefined, 'r']) {
      const error = await failureOf(exchanged(source(answer), refreshToken))
      expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', status: 200 })
      expect(error.message).toContain(`The response from ${ENDPOINT} cannot be used: `)
      expect(error.message).toContain(why)
      expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/issued-token|hidden/)
    }
  })

  it('when the access token has characters that are invalid in a header, then it is rejected', async () => {
    const error = await failureOf(exchanged(source({ ...GRANT, access_token: 'a b' })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
    expect(client.clientSecret).not.toBe('')
  })
})

describe('given a response with an instant, or a lifetime under another name (F370)', () => {
  const now = Date.UTC(2026, 0, 1) // of the manual clock
  const inAnHour = now / 1_000 + 3_600

  it.each<[object, number]>([
    [{ expires_at: inAnHour }, 3_600_000],
    [{ expires_at: String(inAnHour) }, 3_600_000],
    [{ expires_at: inAnHour * 1_000 }, 3_600_000],
    [{ expires_at: new Date(inAnHour * 1_000).toISOString() }, 3_600_000],
    [{ expires_on: String(inAnHour) }, 3_600_000],
    [{ expires: '2026-01-01T01:00:00+0030' }, 1_800_000],
    [{ expires: '2026-01-01 01:00:00' }, 3_600_000],
    [{ expires: 7_200 }, 7_200_000],
    [{ '.expires': 'Thu, 01 Jan 2026 01:00:00 GMT' }, 3_600_000],
    [{ expires_in: inAnHour }, 3_600_000],
    [{ expires_in: 60, expires_at: inAnHour }, 60_000],
    [{ expires_in: 0, expires_at: inAnHour }, 3_600_000],
    [{ expires_in: null, expires_on: inAnHour }, 3_600_000],
    [{ expires_at: now / 1_000 - 1 }, 300_000],
    [{ expires_at: 'soon' }, 300_000],
    [{ expires_at: {} }, 300_000],
    [{ expires_at: true }, 300_000],
  ])('when it has %j, then the access token lives %i ms', async (members, accessLifetimeMs) => {
    const { grant } = await exchanged(source({ ...without('expires_in'), ...members }))
    expect(grant.accessLifetimeMs).toBe(accessLifetimeMs)
  })

  it('when expires_in is an instant, then that is reported', async () => {
    const { reports } = await exchanged(source({ ...GRANT, expires_in: inAnHour }))
    expect(reports).toEqual(['unexpected-response: The token response has an instant in expires_in'])
  })

  it('when the clock of this machine is wrong, then the Date of the response counts', async () => {
    const headers = { Date: 'Thu, 01 Jan 2026 00:30:00 GMT' }
    const text = JSON.stringify({ ...without('expires_in'), expires_at: inAnHour })
    const { grant } = await exchanged(sourceBehind(answering(text, 200, headers)))
    expect(grant.accessLifetimeMs).toBe(1_800_000)
  })

  it('when the refresh token has an instant, then that is its lifetime', async () => {
    const one = source({ ...GRANT, refresh_token: 'next', refresh_token_expires_at: inAnHour })
    expect((await exchanged(one, 'r')).grant.refreshLifetimeMs).toBe(3_600_000)
  })
})

describe('given a response whose tokens are nested one level deeper (F371)', () => {
  it('when one member has an access token, then it is used, whatever its name', async () => {
    const one = source({ ok: true, result: { ...GRANT, refresh_token: 'next' } })
    expect((await exchanged(one, 'r')).grant).toMatchObject({ accessToken: 'issued-token', refreshToken: 'next' })
  })

  it('when two members do, then the response is unusable', async () => {
    const error = await failureOf(exchanged(source({ bot: GRANT, authed_user: GRANT })))
    expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
    expect(error.message).toContain('more than one of its members holds an access_token')
  })
})

describe('given a response that states when to refresh (F377)', () => {
  it.each<[unknown, object]>([
    [1_800, { refreshAfterMs: 1_800_000 }],
    ['1800', { refreshAfterMs: 1_800_000 }],
    [0, {}],
    [-5, {}],
    ['soon', {}],
    [null, {}],
  ])('when refresh_in is %j, then the grant has %j', async (refresh_in, due) => {
    const grant = await sourceBehind(answering(JSON.stringify({ ...GRANT, refresh_in }))).obtain({
      signal: new AbortController().signal,
      clock: manualClock(),
    })
    expect(grant).toEqual({ accessToken: 'issued-token', accessLifetimeMs: 3_600_000, ...due })
  })
})
