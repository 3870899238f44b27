import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { fromTokenResponse } from '../../src/oauth2/index.ts'
import { thrownBy } from '../service/world.ts'

const NOW = Date.UTC(2026, 10, 22)
const answer = { access_token: 'a', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'r' }

beforeEach(() => void jest.useFakeTimers({ now: NOW }))
afterEach(() => void jest.useRealTimers())

describe('given the raw response of a token endpoint', () => {
  it.each<[object, { receivedAt?: number } | undefined, object]>([
    [answer, undefined, { accessToken: 'a', accessLifetimeMs: 3_600_000, refreshToken: 'r' }],
    [answer, { receivedAt: NOW - 600_000 }, { accessToken: 'a', accessLifetimeMs: 3_000_000, refreshToken: 'r' }],
    [answer, { receivedAt: NOW - 7_200_000 }, { accessToken: 'a', accessLifetimeMs: -3_600_000, refreshToken: 'r' }],
    [answer, { receivedAt: NOW + 5_000 }, { accessToken: 'a', accessLifetimeMs: 3_600_000, refreshToken: 'r' }],
    [{ ...answer, expires_in: '60' }, {}, { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' }],
    [
      { ...answer, expires_at: NOW / 1_000 + 30 },
      {},
      { accessToken: 'a', accessLifetimeMs: 30_000, refreshToken: 'r' },
    ],
    [
      { ...answer, expires_at: String(NOW / 1_000 - 30) },
      { receivedAt: 0 },
      { accessToken: 'a', accessLifetimeMs: -30_000, refreshToken: 'r' },
    ],
    [{ access_token: 'a' }, undefined, { accessToken: 'a', accessLifetimeMs: 300_000 }],
    [{ access_token: null, refresh_token: 'r', expires_in: null }, undefined, { refreshToken: 'r' }],
    [{ refresh_token: 'r', expires_in: 60 }, undefined, { refreshToken: 'r' }],
    [{ refresh_token: 'r', refresh_expires_in: 60 }, undefined, { refreshToken: 'r', refreshLifetimeMs: 60_000 }],
    [{ refresh_token: 'r', refresh_expires_in: 0 }, undefined, { refreshToken: 'r' }],
    [
      { refresh_token: 'r', refresh_token_expires_in: '60' },
      undefined,
      { refreshToken: 'r', refreshLifetimeMs: 60_000 },
    ],
    [
      { refresh_token: 'r', x_refresh_token_expires_in: 60 },
      { receivedAt: NOW - 10_000 },
      { refreshToken: 'r', refreshLifetimeMs: 50_000 },
    ],
    [
      { refresh_token: 'r', id_token: `e30.${btoa('{"sub":"user-1"}')}.s` },
      undefined,
      { refreshToken: 'r', subject: 'user-1' },
    ],
  ])('when it is %j, received %j, then adopt() accepts the result', (given, options, grant) => {
    expect(fromTokenResponse(given as Record<string, unknown>, options)).toEqual(grant)
  })

  it.each<[unknown, { receivedAt?: number } | undefined, new () => Error, string]>([
    ['a=b', undefined, TypeError, 'The response must be an object, got string'],
    [null, undefined, TypeError, 'The response must be an object, got null'],
    [{}, undefined, TypeError, 'The response must have access_token or refresh_token'],
    [{ accessToken: 'a' }, undefined, TypeError, 'The response must have access_token or refresh_token'],
    [{ error: 'invalid_grant' }, undefined, TypeError, 'The response must have access_token or refresh_token'],
    [{ access_token: { hidden: 1 } }, undefined, TypeError, 'access_token must be a string, got object'],
    [{ refresh_token: 5 }, undefined, TypeError, 'refresh_token must be a string, got number'],
    [{ access_token: 'a', expires_in: '1h' }, undefined, TypeError, 'expires_in must be a number of seconds'],
    [{ access_token: 'a', expires_in: Infinity }, undefined, TypeError, 'expires_in must be a number of seconds'],
    [
      { access_token: 'a', expires_at: new Date() },
      undefined,
      TypeError,
      'expires_at must be a number of seconds, got object',
    ],
    [{ access_token: 'a', expires_at: NOW }, undefined, RangeError, 'expires_at must be epoch seconds'],
    [answer, { receivedAt: NaN }, RangeError, 'receivedAt must be a finite number from 0'],
    [answer, { receivedAt: '5' as never }, TypeError, 'receivedAt must be a number'],
  ])('when it is %j, received %j, then the error names the member', (given, options, kind, message) => {
    const error = thrownBy(() => fromTokenResponse(given as Record<string, unknown>, options))
    expect(error).toBeInstanceOf(kind)
    expect(error.message).toContain(message)
  })

  it.each<[object, object]>([
    [{ expires_at: new Date(NOW + 30_000).toISOString() }, { accessLifetimeMs: 30_000 }],
    [{ expires_on: String(NOW / 1_000 + 30) }, { accessLifetimeMs: 30_000 }],
    [{ expires: NOW + 30_000 }, { accessLifetimeMs: 30_000 }],
    [{ '.expires': new Date(NOW + 30_000).toUTCString() }, { accessLifetimeMs: 30_000 }],
    [{ expires_in: NOW / 1_000 + 30 }, { accessLifetimeMs: 30_000 }],
    [{ expires_in: 60, expires_on: NOW / 1_000 + 30 }, { accessLifetimeMs: 60_000 }],
    [{ expires: 'soon' }, { accessLifetimeMs: 300_000 }],
  ])('when it has %j, then it is read as in oauth2() (F370)', (members, grant) =>
    expect(fromTokenResponse({ access_token: 'a', ...members })).toEqual({ accessToken: 'a', ...grant }),
  )

  it('when a stored one has an instant, then its age changes nothing (F370)', () => {
    const stored = { access_token: 'a', expires: new Date(NOW + 30_000).toISOString() }
    expect(fromTokenResponse(stored, { receivedAt: NOW - 600_000 }).accessLifetimeMs).toBe(30_000)
  })

  it('when its tokens are nested one level deeper, then they are used; in two members, the error reports it (F371)', () => {
    expect(fromTokenResponse({ ok: true, authed_user: answer })).toMatchObject({ accessToken: 'a', refreshToken: 'r' })
    const error = thrownBy(() => fromTokenResponse({ bot: answer, authed_user: answer }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.message).toContain('more than one of its members holds an access_token')
  })

  it('when an option is misspelled, then the error names it', () => {
    const options = { recievedAt: NOW } as object
    expect(thrownBy(() => fromTokenResponse(answer, options)).message).toContain(
      "no 'recievedAt', did you mean 'receivedAt'?",
    )
  })

  it('when a member comes from Object.prototype, then it does not count (F217)', () => {
    const polluted = Object.create({ refresh_token: 'r' }) as Record<string, unknown>
    expect(thrownBy(() => fromTokenResponse(polluted)).message).toContain('access_token or refresh_token')
  })
})
