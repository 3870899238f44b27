import { describe, expect, it } from '@jest/globals'
import { TokenError } from '../../src/core/errors.ts'
import {
  type Activity,
  admission,
  type Backoff,
  backoffAfter,
  denialOf,
  statusIn,
  timerMs,
} from '../../src/core/status.ts'

const renewal = { lastError: undefined }
const error = new TokenError('ERR_THROTTLED', 'Too many token calls')
const backoff: Backoff = { until: 2_000, asksAt: 2_000, error, failures: 3, isFirm: true }
const earlier: Backoff = { until: 1_000, asksAt: 1_000, error, failures: 2, isFirm: true }

const soft: Backoff = { ...earlier, isFirm: false }
const login: Backoff = {
  ...earlier,
  until: Infinity,
  asksAt: 1_000,
  error: new TokenError('ERR_LOGIN_REQUIRED', 'Log in'),
}

const IDLE: Activity = { renewal: undefined, backoff: undefined, isClosed: false }
const CLOSED: Activity = { ...IDLE, isClosed: true }
const RENEWING: Activity = { ...IDLE, renewal }
const resting = (why: Backoff): Activity => ({ ...IDLE, backoff: why })
const renewingAfter = (why: Backoff): Activity => ({ ...IDLE, renewal, backoff: why })

describe('given a manager, when a caller needs a token request', () => {
  it.each<[string, Activity, number, number, ReturnType<typeof admission>]>([
    // activity, now, limit
    ['idle', IDLE, 0, 0, 'start'],
    ['renewing', RENEWING, 0, 0, 'join'],
    ['renewing in a pause that the caller cannot outwait', renewingAfter(earlier), 999, 1_000, earlier],
    ['renewing in a pause that the caller can outwait', renewingAfter(earlier), 999, 1_001, 'join'],
    ['renewing after a backoff that is over', renewingAfter(earlier), 1_000, 1_000, 'join'],
    ['cooling down, however long the caller can wait', resting(earlier), 999, 9_999, earlier],
    ['cooling down, and the backoff is over', resting(earlier), 1_000, 1_000, 'start'],
    ['waiting for a login, which was requested just now', resting(login), 999, 9_999, login],
    ['waiting for a login, which may be requested again', resting(login), 1_000, 1_000, 'start'],
    ['closed', CLOSED, 0, 0, 'closed'],
  ])('then it is %s, and the decision is right', (_, activity, now, limit, expected) => {
    expect(admission(activity, now, limit)).toBe(expected)
  })

  it.each<[string, Activity, boolean, ReturnType<typeof admission>]>([
    // activity, whether the caller wants to end the backoff
    ['in a firm cool-down', resting(earlier), true, earlier],
    ['resting', resting(soft), false, soft],
    ['cooling down, and wants a renewal anyway', resting(soft), true, 'start'],
    ['renewing despite a backoff', renewingAfter(soft), false, 'join'],
    ['renewing despite a backoff, and wants the same', renewingAfter(soft), true, 'join'],
    ['closed', CLOSED, true, 'closed'],
  ])('when a caller finds it %s, then the decision is right', (_, activity, breaksBackoff, expected) => {
    expect(admission(activity, 999, 999, breaksBackoff)).toBe(expected)
  })

  it('then a caller without a limit cannot wait', () => {
    expect(admission(renewingAfter(earlier), 999)).toBe(earlier)
  })
})

describe('given a manager and a token, when the status is read', () => {
  const living = { remainingMs: 1, refreshRemainingMs: undefined, freshness: 'due' } as const
  const dead = { remainingMs: 0, refreshRemainingMs: undefined, freshness: 'expired' } as const
  const stopped = resting({ ...backoff, until: Infinity })

  it.each<[string, Activity, number, string, string, string]>([
    // activity, now; the status without a token, with an expired token, with a valid token
    ['idle', IDLE, 0, 'empty', 'expired', 'due'],
    ['renewing', RENEWING, 0, 'empty', 'expired', 'due'],
    ['renewing in a pause', renewingAfter(earlier), 999, 'cooling-down', 'cooling-down', 'due'],
    ['renewing after a pause', renewingAfter(earlier), 1_000, 'empty', 'expired', 'due'],
    ['resting', resting(earlier), 999, 'cooling-down', 'cooling-down', 'due'],
    ['no longer cooling down', resting(earlier), 1_000, 'empty', 'expired', 'due'],
    ['stopped', stopped, 999, 'stopped', 'stopped', 'due'],
    ['waiting for a login', resting(login), 999, 'stopped', 'stopped', 'due'],
    ['looking for a login', renewingAfter(login), 1_001, 'stopped', 'stopped', 'due'],
    ['closed', CLOSED, 0, 'closed', 'closed', 'closed'],
  ])('then %s at %d ms is shown as in the table', (_, activity, now, without, ended, lives) => {
    expect([undefined, dead, living].map((token) => statusIn(activity, token, now, 0).phase)).toEqual([
      without,
      ended,
      lives,
    ])
  })
})

describe('given a manager and a token, when the full status is read', () => {
  it('then instants are those of the wall clock, and a pause is shown while it lasts', () => {
    const token = { remainingMs: 400.4, refreshRemainingMs: 5_000, freshness: 'fresh' } as const
    const retrying = renewingAfter(earlier)
    const told = { renewing: true, accessExpiresAt: 10_400, refreshExpiresAt: 15_000, lastError: 'ERR_THROTTLED' }
    expect(statusIn(retrying, token, 900, 10_000)).toEqual({ ...told, phase: 'fresh', nextAttemptAt: 10_100 })
    expect(statusIn(retrying, token, 1_000, 10_000)).toEqual({ ...told, phase: 'fresh' })
  })

  it('then unknown members are absent', () => {
    expect(statusIn(IDLE, undefined, 0, 0)).toEqual({ phase: 'empty', renewing: false })
    const waiting = resting(login)
    expect(statusIn(waiting, undefined, 0, 0)).not.toHaveProperty('nextAttemptAt')
    const endless = resting({ ...backoff, until: Infinity })
    expect(statusIn(endless, undefined, 0, 0)).toEqual({
      phase: 'stopped',
      renewing: false,
      lastError: 'ERR_THROTTLED',
    })
  })
})

describe('given a failed renewal, when the backoff begins', () => {
  const coolDown = { kind: 'cool-down', ms: 5_000, failures: 2, isFirm: false, code: 'ERR_THROTTLED' } as const

  it('then it lasts as long as planned', () => {
    expect(backoffAfter(error, coolDown, 100, true)).toEqual({
      until: 5_100,
      asksAt: 5_100,
      error,
      failures: 2,
      isFirm: false,
    })
  })

  it('then a manager that waits for a login may check for one after a second', () => {
    expect(backoffAfter(login.error, { ...coolDown, ms: Infinity }, 100, true)).toMatchObject({
      until: Infinity,
      asksAt: 1_100,
    })
  })

  it('then one without a store, where no other owner logs in, waits for as long as was planned', () => {
    expect(backoffAfter(login.error, { ...coolDown, ms: 10_000 }, 100, false)).toMatchObject({
      until: Infinity,
      asksAt: 10_100,
    })
  })
})

describe('given a backoff, when a caller is rejected', () => {
  it('then the error has the time of the next attempt', () => {
    expect(denialOf(backoff, 500, 1_700_000_000_000.4)).toMatchObject({
      code: 'ERR_THROTTLED',
      message: 'Too many token calls',
      retryAt: 1_700_000_001_500,
    })
  })

  it('then a closed manager reports that it is closed', () => {
    expect(denialOf('closed', 500, 0)).toMatchObject({
      code: 'ERR_CLOSED',
      message: 'The token manager is closed',
    })
  })

  it('then an endless backoff is reported as such', () => {
    expect(denialOf({ until: Infinity, error }, 500, 0)).toBe(error)
    expect(denialOf(login, 500, 0)).toBe(login.error)
  })
})

describe('given the timer of a token, when it fires', () => {
  const token = (freshness: 'fresh' | 'due' | 'expired', changes: object = {}) => ({
    freshness,
    freshMs: 300,
    remainingMs: 1,
    used: true,
    ...changes,
  })

  it.each<[string, Activity, Parameters<typeof timerMs>[1], string, number | undefined]>([
    ['renews a token that is due', IDLE, token('due'), 'while-used', 0],
    ['renews a token that callers wait for', IDLE, token('expired'), 'while-used', 0],
    ['waits if it fired early', IDLE, token('fresh'), 'while-used', 300],
    ['lapses if the token is unused', IDLE, token('due', { used: false }), 'while-used', undefined],
    ['lapses if the token has expired', IDLE, token('expired', { remainingMs: 0 }), 'while-used', undefined],
    ['renews an unused token that is always kept warm', IDLE, token('due', { used: false }), 'always', 0],
    ['renews an expired token that is always kept warm', IDLE, token('expired', { remainingMs: 0 }), 'always', 0],
    ['leaves it to the renewal in flight', RENEWING, token('due'), 'always', undefined],
    ['waits for the end of a backoff', resting(earlier), token('due'), 'while-used', 100],
    ['does nothing if the manager is closed', CLOSED, token('due'), 'always', undefined],
  ])('then it %s', (_, activity, held, keepWarm, ms) => {
    expect(timerMs(activity, held, keepWarm, 900)).toBe(ms)
  })

  it('then it leaves a stop, and the wait for a login, to callers', () => {
    for (const stop of [{ ...backoff, until: Infinity }, login])
      expect(timerMs(resting(stop), token('due'), 'always', 9_999)).toBeUndefined()
  })

  it('then it renews if a backoff is over', () => {
    expect(timerMs(resting(earlier), token('due'), 'while-used', 1_000)).toBe(0)
  })
})

it('given a polluted Object.prototype, when a backoff is read, then only its own members count', () => {
  const pollution = Object.prototype as { backoff?: Backoff }
  pollution.backoff = { ...backoff, until: Infinity }
  try {
    expect(admission(IDLE, 0)).toBe('start')
  } finally {
    delete pollution.backoff
  }
})
