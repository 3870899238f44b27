import { describe, expect, it } from '@jest/globals'
import { createTokenManager, TokenError } from '../../src/index.ts'
import { type LoginSource, person } from '../../src/login/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { part, share } from '../support/part.ts'
import { liveThrough, type Outage } from './many-logins.ts'

const OUTAGES: [string, Pick<Outage, 'durationMs' | 'allWake'>][] = [
  ...part([2, 10, 30, 60, 120], [60]).map((s): [string, { durationMs: number }] => [
    `${s} s`,
    { durationMs: s * 1_000 },
  ]),
  ['10 s, in which all wake up', { durationMs: 10_000, allWake: true }],
]
const STATUSES = [503, 502] as const
const PEOPLE = part(300, share(80, 40))

describe.each(OUTAGES)(`given ${PEOPLE} logins with tokens of five minutes, and an outage of %s`, (_, outage) => {
  it.each(STATUSES)(
    'when no failed request (%i) has used the refresh token, then no login is lost (F196)',
    async (status) => {
      expect(await liveThrough({ ...outage, status, usedShare: 0 }, 'new', PEOPLE)).toEqual({
        lost: 0,
        lostForNothing: 0,
        mute: 0,
      })
    },
  )

  it.each([0.05, 0.5])(
    'when a share of %d of the failed requests has used it, then only such logins are lost, and no more than by the old rule (F196)',
    async (usedShare) => {
      const old = await liveThrough({ ...outage, status: 502, usedShare }, 'old', PEOPLE)
      for (const status of STATUSES) {
        const seen = await liveThrough({ ...outage, status, usedShare }, 'new', PEOPLE)
        expect(seen).toMatchObject({ lostForNothing: 0, mute: 0 })
        expect(seen.lost).toBeLessThanOrEqual(old.lost)
      }
    },
  )
})

describe('given the rule of 0.1, which discards a refresh token in doubt', () => {
  it('when an outage lasts 30 s, then logins are lost for nothing: these figures can fail', async () => {
    const seen = await liveThrough({ durationMs: 30_000, status: 503, usedShare: 0 }, 'old', PEOPLE)
    expect(seen.lost).toBeGreaterThan(PEOPLE / 15)
    expect(seen.lostForNothing).toBe(seen.lost)
  })
})

const KEPT = [
  ['503, which leaves the refresh token alone', { status: 503, refreshToken: 'kept' }],
  ['502, after which the outcome is unknown', { status: 502 }],
] as const

describe.each(KEPT)('given a login in use, and ten minutes of %s', (_, details) => {
  it('when they are over, then the login is kept: few requests, no login required, and the next caller gets a token (F196)', async () => {
    const clock = manualClock()
    let isDown = true
    let calls = 0
    const source: LoginSource = {
      id: 'a login',
      login: person,
      obtain: () => Promise.reject(new Error('a login is never obtained')),
      async refresh() {
        calls += 1
        if (isDown)
          throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'down', { outcome: 'unknown-5xx', ...details })
        return { accessToken: 'new', accessLifetimeMs: 300_000, refreshToken: 'next' }
      },
    }
    const tokens = createTokenManager({ source, clock, random: () => 0 })
    await tokens.adopt({ refreshToken: 'r' })
    const codes = new Set<string>()
    const ask = () => tokens.getAccessToken().catch((error: unknown) => codes.add((error as TokenError).code))
    for (let second = 0; second < 600; second += 1) {
      void ask()
      await clock.advance(1_000)
    }
    expect(calls).toBeGreaterThan(10)
    expect(calls).toBeLessThanOrEqual(45)
    expect([...codes]).toEqual(['ERR_TOKEN_SERVICE_UNAVAILABLE'])
    isDown = false
    // The cool-down of the last failure continues. The first caller after it makes one request, and gets its token.
    const { nextAttemptAt = 0, login } = tokens.status()
    const restMs = nextAttemptAt - clock.wallNow()
    expect([login, restMs <= 60_000]).toEqual(['present', true])
    await clock.advance(restMs)
    const before = calls
    expect([await tokens.getAccessToken(), calls - before]).toEqual(['new', 1])
  })
})
