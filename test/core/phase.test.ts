import { describe, expect, it } from '@jest/globals'
import { type LoginReason, TokenError } from '../../src/core/errors.ts'
import {
  admission,
  IDLE,
  loginIn,
  type Phase,
  phaseAfter,
  refusalIn,
  type Rest,
  restAfter,
  statusIn,
  timerMs,
} from '../../src/core/phase.ts'
import type { Renewal } from '../../src/core/renewal.ts'

/** The functions under test only compare renewals. */
const renewal = Object.create(null) as Renewal
const outdated = Object.create(null) as Renewal
const error = new TokenError('ERR_THROTTLED', 'Too many token calls')
const rest: Rest = { until: 2_000, error, failures: 3, isFirm: true }
const earlier: Rest = { until: 1_000, error, failures: 2, isFirm: true }

const soft: Rest = { ...earlier, isFirm: false }
const login: Rest = { ...earlier, error: new TokenError('ERR_LOGIN_REQUIRED', 'Log in') }

const CLOSED: Phase = { is: 'closed' }
const PHASES = {
  idle: IDLE,
  renewing: { is: 'renewing', renewal, rest: undefined },
  'renewing after a failure': { is: 'renewing', renewal, rest: earlier },
  resting: { is: 'resting', rest: earlier },
  closed: CLOSED,
} satisfies Record<string, Phase>

describe('given a phase, when something happens', () => {
  const RENEWING: Phase = { is: 'renewing', renewal, rest: undefined }
  const RETRYING: Phase = { is: 'renewing', renewal, rest: earlier }
  const pause = { until: 2_000, error }
  const paused = (failures: number): Phase => ({ is: 'renewing', renewal, rest: { ...pause, failures, isFirm: true } })
  const RESTING: Phase = { is: 'resting', rest }
  const SAME = 'same'

  it.each([
    // event, idle, renewing, renewing after a failure, resting, closed
    [{ type: 'started', renewal }, RENEWING, SAME, SAME, RETRYING, SAME],
    [
      { type: 'started', renewal: outdated },
      { ...RENEWING, renewal: outdated },
      SAME,
      SAME,
      { ...RETRYING, renewal: outdated },
      SAME,
    ],
    [{ type: 'paused', renewal, ...pause }, SAME, paused(0), paused(2), SAME, SAME],
    [{ type: 'paused', renewal: outdated, ...pause }, SAME, SAME, SAME, SAME, SAME],
    [{ type: 'held' }, SAME, IDLE, IDLE, IDLE, SAME],
    [{ type: 'gave-up', renewal, rest }, SAME, RESTING, RESTING, SAME, SAME],
    [{ type: 'gave-up', renewal: outdated, rest }, SAME, SAME, SAME, SAME, SAME],
    [{ type: 'reset' }, SAME, IDLE, IDLE, IDLE, SAME],
    [{ type: 'closed' }, CLOSED, CLOSED, CLOSED, CLOSED, SAME],
  ] as const)('then %j makes of each phase what the table says', (event, ...expected) => {
    for (const [n, phase] of Object.values(PHASES).entries()) {
      const after = phaseAfter(phase, event)
      if (expected[n] === SAME) expect(after).toBe(phase)
      else expect(after).toEqual(expected[n])
      // `toEqual` is not enough: only their identity tells renewals apart.
      if (after.is === 'renewing' && phase.is !== 'renewing')
        expect(after.renewal).toBe((event as { renewal?: Renewal }).renewal)
    }
  })
})

describe('given a phase, when somebody needs a token call', () => {
  it.each<[string, Phase, number, number, ReturnType<typeof admission>]>([
    // phase, now, limit
    ['idle', PHASES.idle, 0, 0, 'start'],
    ['renewing', PHASES.renewing, 0, 0, 'join'],
    ['renewing in a pause that the caller cannot outwait', PHASES['renewing after a failure'], 999, 1_000, earlier],
    ['renewing in a pause that the caller can outwait', PHASES['renewing after a failure'], 999, 1_001, 'join'],
    ['renewing after a rest that is over', PHASES['renewing after a failure'], 1_000, 1_000, 'join'],
    ['resting, however long the caller can wait', PHASES.resting, 999, 9_999, earlier],
    ['resting, and the rest is over', PHASES.resting, 1_000, 1_000, 'start'],
    ['closed', PHASES.closed, 0, 0, 'closed'],
  ])('then it is %s, and the answer is right', (_, phase, now, limit, expected) => {
    expect(admission(phase, now, limit)).toBe(expected)
  })

  it.each<[string, Phase, boolean, ReturnType<typeof admission>]>([
    // phase, whether the caller wants to end the rest
    ['resting firmly', PHASES.resting, true, earlier],
    ['resting', { is: 'resting', rest: soft }, false, soft],
    ['resting, and wants a renewal all the same', { is: 'resting', rest: soft }, true, 'start'],
    ['renewing in spite of a rest', { is: 'renewing', renewal, rest: soft }, false, 'join'],
    ['renewing in spite of a rest, and wants the same', { is: 'renewing', renewal, rest: soft }, true, 'join'],
    ['closed', CLOSED, true, 'closed'],
  ])('when a caller finds it %s, then the answer is right', (_, phase, breaksRest, expected) => {
    expect(admission(phase, 999, 999, breaksRest)).toBe(expected)
  })

  it('then a caller that names no limit cannot wait', () => {
    expect(admission(PHASES['renewing after a failure'], 999)).toBe(earlier)
  })
})

describe('given a phase and a token, when the status is asked for', () => {
  const living = { remainingMs: 1, refreshRemainingMs: undefined, freshness: 'due' } as const
  const dead = { remainingMs: 0, refreshRemainingMs: undefined, freshness: 'expired' } as const
  const stopped: Phase = { is: 'resting', rest: { ...rest, until: Infinity } }

  it.each<[string, Phase, number, string, string, string]>([
    // phase, now; the status without a token, with an expired token, with a live token
    ['idle', PHASES.idle, 0, 'empty', 'expired', 'due'],
    ['renewing', PHASES.renewing, 0, 'empty', 'expired', 'due'],
    ['renewing in a pause', PHASES['renewing after a failure'], 999, 'cooling-down', 'cooling-down', 'due'],
    ['renewing after a pause', PHASES['renewing after a failure'], 1_000, 'empty', 'expired', 'due'],
    ['resting', PHASES.resting, 999, 'cooling-down', 'cooling-down', 'due'],
    ['resting no longer', PHASES.resting, 1_000, 'empty', 'expired', 'due'],
    ['stopped', stopped, 999, 'stopped', 'stopped', 'due'],
    ['waiting for a login', { is: 'resting', rest: login }, 999, 'stopped', 'stopped', 'due'],
    ['looking for a login', { is: 'renewing', renewal, rest: login }, 1_001, 'stopped', 'stopped', 'due'],
    ['closed', PHASES.closed, 0, 'closed', 'closed', 'closed'],
  ])('then %s at %d ms is shown as the table says', (_, phase, now, without, ended, lives) => {
    expect([undefined, dead, living].map((token) => statusIn(phase, token, now, 0).phase)).toEqual([
      without,
      ended,
      lives,
    ])
  })
})

describe('given a phase and a token, when the status is asked for in full', () => {
  it('then instants are those of the wall clock, and a pause is told while it lasts', () => {
    const token = { remainingMs: 400.4, refreshRemainingMs: 5_000, freshness: 'fresh' } as const
    const retrying = PHASES['renewing after a failure']
    const told = { renewing: true, accessExpiresAt: 10_400, refreshExpiresAt: 15_000, lastError: 'ERR_THROTTLED' }
    expect(statusIn(retrying, token, 900, 10_000)).toEqual({ ...told, phase: 'fresh', nextAttemptAt: 10_100 })
    expect(statusIn(retrying, token, 1_000, 10_000)).toEqual({ ...told, phase: 'fresh' })
  })

  it('then what is not known is absent', () => {
    expect(statusIn(IDLE, undefined, 0, 0)).toEqual({ phase: 'empty', renewing: false })
    const waiting: Phase = { is: 'resting', rest: login }
    expect(statusIn(waiting, undefined, 0, 0)).not.toHaveProperty('nextAttemptAt')
    const endless: Phase = { is: 'resting', rest: { ...rest, until: Infinity } }
    expect(statusIn(endless, undefined, 0, 0)).toEqual({
      phase: 'stopped',
      renewing: false,
      lastError: 'ERR_THROTTLED',
    })
  })
})

describe('given a renewal that gave up, when the rest begins', () => {
  const coolDown = { kind: 'cool-down', ms: 5_000, failures: 2, isFirm: false, code: 'ERR_THROTTLED' } as const

  it('then it lasts as long as was planned', () => {
    expect(restAfter(error, coolDown, 100)).toEqual({ until: 5_100, error, failures: 2, isFirm: false })
  })

  it('then a manager that waits for a login may look for one after a second', () => {
    expect(restAfter(login.error, { ...coolDown, ms: Infinity }, 100)).toMatchObject({ until: 1_100 })
  })
})

describe('given a rest, when a caller is refused', () => {
  it('then the error says when the next attempt is', () => {
    expect(refusalIn(rest, 500, 1_700_000_000_000.4)).toMatchObject({
      code: 'ERR_THROTTLED',
      message: 'Too many token calls',
      retryAt: 1_700_000_001_500,
    })
  })

  it('then a closed manager says so', () => {
    expect(refusalIn('closed', 500, 0)).toMatchObject({ code: 'ERR_CLOSED', message: 'The token manager is closed' })
  })

  it('then an endless rest is told as it is', () => {
    expect(refusalIn({ until: Infinity, error }, 500, 0)).toBe(error)
    expect(refusalIn(login, 500, 0)).toBe(login.error)
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

  it.each<[string, Phase, Parameters<typeof timerMs>[1], string, number | undefined]>([
    ['renews a token that is due', IDLE, token('due'), 'while-used', 0],
    ['renews one that callers wait for', IDLE, token('expired'), 'while-used', 0],
    ['waits where it came early', IDLE, token('fresh'), 'while-used', 300],
    ['lapses where nobody has used the token', IDLE, token('due', { used: false }), 'while-used', undefined],
    ['lapses where the token has ended', IDLE, token('expired', { remainingMs: 0 }), 'while-used', undefined],
    ['renews an unused token that is always kept', IDLE, token('due', { used: false }), 'always', 0],
    ['renews an ended token that is always kept', IDLE, token('expired', { remainingMs: 0 }), 'always', 0],
    ['leaves it to the renewal in flight', PHASES.renewing, token('due'), 'always', undefined],
    ['waits for the end of a rest', PHASES.resting, token('due'), 'while-used', 100],
    ['does nothing where the manager is closed', CLOSED, token('due'), 'always', undefined],
  ])('then it %s', (_, phase, held, keepWarm, ms) => {
    expect(timerMs(phase, held, keepWarm, 900)).toBe(ms)
  })

  it('then it leaves a stop, and the wait for a login, to callers', () => {
    for (const until of [Infinity, login]) {
      const stop: Rest = typeof until === 'number' ? { ...rest, until } : until
      expect(timerMs({ is: 'resting', rest: stop }, token('due'), 'always', 9_999)).toBeUndefined()
    }
  })

  it('then it renews where a rest is over', () => {
    expect(timerMs(PHASES.resting, token('due'), 'while-used', 1_000)).toBe(0)
  })
})

it('given a polluted Object.prototype, when the rest of a phase is asked for, then only its own counts', () => {
  const pollution = Object.prototype as { rest?: Rest }
  pollution.rest = { ...rest, until: Infinity }
  try {
    expect(admission(IDLE, 0)).toBe('start')
  } finally {
    delete pollution.rest
  }
})

describe('given what the listeners know of a login, when the status is asked for', () => {
  const PRESENT = { login: 'present' } as const
  const required = (loginReason: string) => ({ login: 'required', loginReason })
  const ended = (loginReason?: LoginReason): Rest => ({
    ...earlier,
    error: new TokenError('ERR_LOGIN_REQUIRED', 'Log in', { loginReason }),
  })
  type Held = Parameters<typeof loginIn>[2]
  const held = (living: string | undefined, refreshToken: string | undefined, isRefused = false) =>
    ({ living, stored: { refreshToken }, isRefused }) as unknown as Held

  it.each<[string, Rest | undefined, Held, object]>([
    ['it can be refreshed', undefined, held(undefined, 'r'), PRESENT],
    ['its access token serves', undefined, held('a', undefined), PRESENT],
    ['its access token serves, although it has ended elsewhere', ended('refused'), held('a', 'r'), PRESENT],
    ['nothing is held', undefined, undefined, PRESENT],
    ['the service fails', rest, held(undefined, 'r'), PRESENT],
    ['a renewal found that it has ended', ended('in-doubt'), held(undefined, 'r'), required('in-doubt')],
    ['a renewal found that it has ended, and nobody said why', ended(), undefined, required('refused')],
    ['nothing can renew its token', undefined, held(undefined, undefined), required('expired')],
    ['the API refused its last token', undefined, held(undefined, undefined, true), required('refused')],
  ])('when %s, then it says so (F205)', (_, found, token, expected) => {
    expect(loginIn(PRESENT, found, token)).toEqual(expected)
  })

  it('when a login is required, or nothing is known, then that stays', () => {
    const known = { login: 'required', loginReason: 'logged-out' } as const
    expect(loginIn(known, undefined, held(undefined, undefined))).toBe(known)
    expect(loginIn({}, ended('refused'), undefined)).toEqual({})
  })
})
