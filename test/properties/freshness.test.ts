import { coolDownMs, pauseMs, uncertaintyOf } from '../../src/core/plan.ts'
import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { systemClock } from '../../src/core/clock.ts'
import { type ExchangeOutcome, TokenError, type TokenErrorCode } from '../../src/core/errors.ts'
import { freshnessOf, renewalWindow } from '../../src/core/freshness.ts'
import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import { JUMP_MS, TokenClock } from '../../src/core/token-clock.ts'
import { POLICY, SITUATION } from '../support/situation.ts'
import { runs, usually } from './runs.ts'

const holds = <Given>(property: fc.IRawProperty<Given>) => fc.assert(property, runs(usually(1_000)))

const DAY = 86_400_000
const lifetimes = fc.oneof(fc.integer({ min: 1, max: DAY }), fc.double({ min: 0.001, max: DAY, noNaN: true }))
const durations = fc.oneof(fc.nat({ max: 2 ** 31 - 1 }), fc.nat({ max: 60_000 }))
const draws = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('given any token and any windows', () => {
  const settings = fc.record({
    skewMs: fc.option(durations, { nil: undefined }),
    hardSkewMs: fc.option(durations, { nil: undefined }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  })

  it('then at least a quarter of its lifetime is fresh, and callers wait in its last quarter at most', () =>
    holds(
      fc.property(lifetimes, settings, draws, (lifetimeMs, windows, draw) => {
        const { skewMs, hardSkewMs } = renewalWindow(lifetimeMs, windows, draw)
        expect(hardSkewMs).toBeLessThanOrEqual(lifetimeMs / 4)
        expect(skewMs).toBeLessThanOrEqual(lifetimeMs * 0.75)
        expect(Math.min(skewMs, hardSkewMs)).toBeGreaterThanOrEqual(0)
        expect(renewalWindow(lifetimeMs, windows, 0).skewMs).toBeLessThanOrEqual(lifetimeMs / 2)
        expect(skewMs).toBeLessThanOrEqual(renewalWindow(lifetimeMs, windows, 0).skewMs * (1 + windows.jitter))
      }),
    ))

  it('then it only grows older, and an expired token is never used', () =>
    holds(
      fc.property(lifetimes, settings, draws, fc.array(durations), (lifetimeMs, windows, draw, ages) => {
        const window = renewalWindow(lifetimeMs, windows, draw)
        const inOrder = ages.sort((one, other) => one - other).map((age) => lifetimeMs - age)
        const phases = inOrder.map((remainingMs) => freshnessOf(remainingMs, window))
        const order = ['fresh', 'due', 'expired']
        expect(phases).toEqual([...phases].sort((one, other) => order.indexOf(one) - order.indexOf(other)))
        expect(inOrder.every((remainingMs, n) => remainingMs > 0 || phases[n] === 'expired')).toBe(true)
      }),
    ))
})

const outcomes = fc.constantFrom<ExchangeOutcome>('rejected', 'deferred', 'not-sent', 'unknown-5xx', 'unknown')
const codes = fc.constantFrom<TokenErrorCode>(
  'ERR_CREDENTIALS_REJECTED',
  'ERR_REFRESH_REJECTED',
  'ERR_THROTTLED',
  'ERR_TOKEN_SERVICE_UNAVAILABLE',
  'ERR_TOKEN_REQUEST',
  'ERR_TOKEN_RESPONSE',
  'ERR_SIGNATURE',
  'ERR_TOKEN_SOURCE',
)
const errors = fc
  .tuple(
    codes,
    fc.option(outcomes, { nil: undefined }),
    fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
    fc.constantFrom(undefined, 'refused', 'unusable', 'kept'),
  )
  .map(([code, outcome, status, said]) => new TokenError(code, 'failed', { outcome, status, refreshToken: said }))

describe('given any failed exchange', () => {
  const policies = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 99 }),
    baseDelayMs: durations,
    maxDelayMs: durations,
    maxRetryAfterMs: durations,
  })

  it('then the pause is in the upper half of its step, and Retry-After is its lower bound', () =>
    holds(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        errors,
        durations,
        policies,
        draws,
        (attempt, error, askedMs, policy, draw) => {
          const retryAfterMs = Math.min(askedMs, policy.maxRetryAfterMs)
          const factor = error.outcome === 'deferred' || (!error.outcome && error.code === 'ERR_THROTTLED') ? 2 : 1
          const stepMs = Math.min(policy.maxDelayMs, policy.baseDelayMs * factor * 2 ** (attempt - 1))
          const pause = pauseMs(attempt, error, retryAfterMs, policy, draw)
          expect(pause).toBeGreaterThanOrEqual(Math.max(stepMs / 2, retryAfterMs))
          expect(pause).toBeLessThanOrEqual(Math.max(stepMs / 2, retryAfterMs) + stepMs / 2)
          const own = pauseMs(attempt, error, 0, policy, draw)
          expect(own >= stepMs / 2 && own <= stepMs).toBe(true)
        },
      ),
    ))

  it('then the thousandth pause of a policy without pauses is 0, and Retry-After counts', () => {
    const policy = { maxAttempts: 9_999, baseDelayMs: 0, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }
    const throttled = new TokenError('ERR_THROTTLED', 'failed')
    expect([0, 2_000].map((retryAfterMs) => pauseMs(1_025, throttled, retryAfterMs, policy, 0.5))).toEqual([0, 2_000])
  })

  it('then the cool-down grows from 5 to 20 s, is a minute for rejected credentials, and is never shorter than requested', () =>
    holds(
      fc.property(errors, fc.integer({ min: 1, max: 1e6 }), durations, (error, failures, retryAfterMs) => {
        const facts = { failures, sinceLeaseMs: 0, usableMs: 0 }
        const own = coolDownMs(error, facts, 0)
        const isRejected = error.code === 'ERR_CREDENTIALS_REJECTED'
        expect(own >= (isRejected ? 60_000 : 5_000) && own <= (isRejected ? 60_000 : 20_000)).toBe(true)
        expect(coolDownMs(error, { ...facts, failures: failures + 1 }, 0)).toBeGreaterThanOrEqual(own)
        expect(coolDownMs(error, facts, retryAfterMs)).toBe(Math.max(own, retryAfterMs))
      }),
    ))

  const consequence = (exchange: 'obtain' | 'refresh', error: TokenError, signatureFailures: number) =>
    CREDENTIAL_RULES.consequenceOf(error, { ...SITUATION, exchange, signatureFailures, usableMs: 60_000 }, POLICY)

  it('then a refresh token that may be spent is never presented again, and a rejected call is not repeated', () =>
    holds(
      fc.property(errors, fc.integer({ min: 0, max: 3 }), (error, signatureFailures) => {
        const { fate, next, foundInvalid } = consequence('refresh', error, signatureFailures)
        const known = /^(ERR_CREDENTIALS_REJECTED|ERR_REFRESH_REJECTED|ERR_TOKEN_REQUEST)$/.test(error.code)
        const outcome = error.outcome ?? (error.code === 'ERR_THROTTLED' ? 'deferred' : known ? 'rejected' : 'unknown')
        const said = error.refreshToken ?? (error.code === 'ERR_REFRESH_REJECTED' ? 'refused' : undefined)
        if (said === undefined && outcome === 'unknown') expect([fate, next]).toEqual(['doubtful', 'obtain'])
        if (said === 'refused' || said === 'unusable') expect([fate, next]).toEqual(['dead', 'obtain'])
        if (said === 'kept') expect(fate).toBe('keep')
        expect(foundInvalid ?? false).toBe(said === 'refused')
        if (outcome === 'rejected') expect(next).not.toBe('retry')
        if (fate === 'keep' && said === undefined) expect(['rejected', 'deferred', 'not-sent']).toContain(outcome)
        const obtain = consequence('obtain', error, signatureFailures)
        expect(obtain.fate).toBe('keep')
        const isFinal = outcome === 'rejected' || (!error.retryable && error.code !== 'ERR_SIGNATURE')
        expect(obtain.next === 'stop').toBe(isFinal || signatureFailures > 1)
      }),
    ))
})

describe('given any rejected refresh token', () => {
  const refusals = fc.record({
    remainingMs: fc.option(fc.integer({ min: -10_000, max: 10_000 }), { nil: undefined }),
    uncertaintyMs: fc.integer({ min: 2_000, max: 9_000 }),
    attemptedBefore: fc.boolean(),
    contested: fc.boolean(),
    storeReachable: fc.boolean(),
    met5xx: fc.constant(false),
    isRotated: fc.constant(false),
  })

  it('then it is unexplained only if it was certainly valid, and no owner had used it', () =>
    holds(
      fc.property(refusals, (refusal) => {
        const { remainingMs, uncertaintyMs, attemptedBefore, contested, storeReachable } = refusal
        const suspicion = CREDENTIAL_RULES.suspicionOf(refusal)
        const surelyDead = remainingMs !== undefined && remainingMs <= -uncertaintyMs
        const surelyAlive = remainingMs !== undefined && remainingMs > uncertaintyMs
        expect(suspicion === undefined).toBe(surelyDead)
        expect(suspicion?.evidence === 'unexplained').toBe(
          surelyAlive && !attemptedBefore && !contested && storeReachable,
        )
        expect(suspicion?.severity === 'high').toBe(suspicion?.evidence === 'unexplained')
      }),
    ))

  it('then its expiry is the less certain, the older it is', () =>
    holds(
      fc.property(durations, durations, (age, more) => {
        expect(uncertaintyOf(age)).toBeGreaterThanOrEqual(2_000)
        expect(uncertaintyOf(age + more)).toBeGreaterThanOrEqual(uncertaintyOf(age))
      }),
    ))
})

describe('given any moves of the clocks', () => {
  type Move = readonly [does: 'passes' | 'sleeps' | 'steps', ms: number, looks: boolean]
  const moves = (...does: Move[0][]): fc.Arbitrary<Move[]> =>
    fc.array(fc.tuple(fc.constantFrom(...does), fc.oneof(fc.integer({ min: -DAY, max: DAY }), steps), fc.boolean()))
  const steps = fc.integer({ min: -3_000, max: 3_000 })

  /** @returns The age of a token by a token clock, and the true elapsed time. */
  function lived(course: readonly Move[]) {
    let [monotonic, wall, sleptMs, steppedMs] = [1_000, Date.UTC(2026), 0, 0]
    const tokenClock = new TokenClock({ ...systemClock, monotonicNow: () => monotonic, wallNow: () => wall })
    const bornAt = tokenClock.now()
    const ages: number[] = []
    for (const [does, ms, looks] of course) {
      const lengthMs = does === 'steps' ? ms : Math.abs(ms)
      wall += lengthMs
      if (does === 'passes') monotonic += lengthMs
      else if (does === 'sleeps') sleptMs += lengthMs
      else steppedMs += Math.max(0, ms)
      if (looks) ages.push(tokenClock.now() - bornAt)
    }
    ages.push(tokenClock.now() - bornAt)
    return { ages, age: ages.at(-1)!, passedMs: monotonic - 1_000 + sleptMs, steppedMs }
  }

  it('then a token never grows younger (F11)', () =>
    holds(
      fc.property(moves('passes', 'sleeps', 'steps'), (course) => {
        const { ages } = lived(course)
        expect(ages).toEqual([...ages].sort((one, other) => one - other))
      }),
    ))

  it('then it ages with true time, sleep included, except for jumps too short to notice (F12)', () =>
    holds(
      fc.property(moves('passes', 'sleeps'), (course) => {
        const { age, passedMs } = lived(course)
        expect(age >= passedMs - JUMP_MS && age <= passedMs).toBe(true)
      }),
    ))

  it('then steps of the wall clock age it by at most their length (F10)', () =>
    holds(
      fc.property(moves('passes', 'sleeps', 'steps'), (course) => {
        const { age, passedMs, steppedMs } = lived(course)
        expect(age).toBeLessThanOrEqual(passedMs + steppedMs)
      }),
    ))
})
