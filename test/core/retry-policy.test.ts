import { describe, expect, it } from '@jest/globals'
import { type ExchangeOutcome, TokenError, type TokenErrorCode } from '../../src/core/errors.ts'
import { consequenceOf, coolDownMs, pauseMs } from '../../src/core/retry-policy.ts'

const POLICY = { maxAttempts: 4, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }
const failure = (outcome: ExchangeOutcome, status?: number, code: TokenErrorCode = 'ERR_TOKEN_SERVICE_UNAVAILABLE') =>
  new TokenError(code, 'failed', { outcome, status })

describe('given an exchange that failed, when its consequence is asked for', () => {
  it.each<['obtain' | 'refresh', ExchangeOutcome, number | undefined, string]>([
    ['obtain', 'rejected', 401, 'keep stop'],
    ['obtain', 'rejected', 400, 'keep stop'],
    ['obtain', 'rejected', 403, 'keep stop'],
    ['obtain', 'rejected', 404, 'keep stop'],
    ['obtain', 'rejected', 302, 'keep stop'],
    ['obtain', 'deferred', 429, 'keep retry'],
    ['obtain', 'not-sent', undefined, 'keep retry'],
    ['obtain', 'unknown-5xx', 503, 'keep retry'],
    ['obtain', 'unknown', undefined, 'keep retry'],
    ['refresh', 'rejected', 401, 'dead obtain'],
    ['refresh', 'rejected', 400, 'dead obtain'],
    ['refresh', 'rejected', 403, 'keep obtain'],
    ['refresh', 'rejected', 404, 'keep stop'],
    ['refresh', 'rejected', 302, 'keep stop'],
    ['refresh', 'deferred', 429, 'keep retry'],
    ['refresh', 'not-sent', undefined, 'keep retry'],
    ['refresh', 'unknown-5xx', 503, 'counted retry'],
    ['refresh', 'unknown', undefined, 'doubtful obtain'],
  ])('then %s, %s (%s): %s', (exchange, outcome, status, expected) => {
    const { fate, next } = consequenceOf(exchange, failure(outcome, status), 0)
    expect(`${fate} ${next}`).toBe(expected)
  })

  it.each<[TokenErrorCode, string]>([
    ['ERR_REFRESH_REJECTED', 'dead obtain'],
    ['ERR_TOKEN_REQUEST', 'keep stop'],
    ['ERR_THROTTLED', 'keep retry'],
    ['ERR_TOKEN_RESPONSE', 'doubtful obtain'],
  ])('then a refresh that a custom source fails with %s alone: %s', (code, expected) => {
    const { fate, next } = consequenceOf('refresh', new TokenError(code, 'failed'), 0)
    expect(`${fate} ${next}`).toBe(expected)
  })

  it('then a wrong signature is retried once', () => {
    const wrong = failure('unknown', undefined, 'ERR_SIGNATURE')
    expect([1, 2].map((failures) => consequenceOf('obtain', wrong, failures).next)).toEqual(['retry', 'stop'])
  })
})

describe('given a failed call, when the pause before the next one is drawn', () => {
  it.each([
    // attempt, lowest, just below the highest
    [1, 250, 500],
    [2, 500, 1_000],
    [3, 1_000, 2_000],
    [6, 8_000, 16_000],
    [7, 10_000, 20_000],
    [60, 10_000, 20_000],
  ])('then after call %i it is at least %i ms and less than %i ms', (attempt, lowest, highest) => {
    const pause = (random: number) => pauseMs(attempt, failure('unknown-5xx'), 0, POLICY, random)
    expect([pause(0), pause(0.5), pause(1)]).toEqual([lowest, (lowest + highest) / 2, highest])
  })

  it('then after 429 it is twice as long', () => {
    expect(pauseMs(1, failure('deferred'), 0, POLICY, 0)).toBe(500)
    expect(pauseMs(1, failure('deferred'), 0, POLICY, 1)).toBe(1_000)
  })

  it.each([
    // Retry-After, random, pause
    [249, 0, 250],
    [250, 0, 250],
    [251, 0, 251],
    [2_000, 0, 2_000],
    [2_000, 1, 2_250],
    [299_999, 1, 300_249],
    [300_000, 1, 300_000],
  ])(
    'then Retry-After of %i ms is a lower bound that jitter %i makes %i ms, and its ceiling is exact',
    (retryAfterMs, random, expected) => {
      expect(pauseMs(1, failure('unknown-5xx'), retryAfterMs, POLICY, random)).toBe(expected)
    },
  )

  it('then a ceiling that is just its own backoff is exact as well', () => {
    expect(pauseMs(1, failure('unknown-5xx'), 250, { ...POLICY, maxRetryAfterMs: 250 }, 1)).toBe(250)
  })

  it('then a policy that believes no Retry-After keeps its own backoff', () => {
    expect(pauseMs(1, failure('unknown-5xx'), 0, { ...POLICY, maxRetryAfterMs: 0 }, 1)).toBe(500)
  })
})

describe('given a renewal that gave up, when its cool-down is asked for', () => {
  const PLAIN = { retryAfterMs: 0, calledForMs: 0, servedMs: 0 }

  it('then it is 5, 10, 20, 20 … s', () => {
    expect([1, 2, 3, 4, 99].map((failures) => coolDownMs(failure('unknown-5xx'), failures, PLAIN))).toEqual([
      5_000, 10_000, 20_000, 20_000, 20_000,
    ])
  })

  it.each([
    // the call took, failures, cool-down
    [10_000, 1, 5_000],
    [5_000, 2, 5_000],
    [4_999, 2, 5_001],
    [10_000, 3, 10_000],
    [15_001, 3, 5_000],
    [3_000, 9, 17_000],
  ])(
    'when the call hung for %d ms, then renewal %d in a row that failed counts from there: %d ms',
    (ms, failures, cool) => {
      expect(coolDownMs(failure('unknown'), failures, { ...PLAIN, calledForMs: ms })).toBe(cool)
    },
  )

  it.each([
    [0, 5_000],
    [2_000, 5_000],
    [2_001, 1_001],
    [5_999, 4_999],
    [6_000, 5_000],
    [60_000, 5_000],
  ])(
    'when the old token serves for %d ms yet, then the next probe comes a second before its end, or at its time',
    (servedMs, ms) => {
      expect(coolDownMs(failure('unknown-5xx'), 1, { ...PLAIN, servedMs })).toBe(ms)
    },
  )

  it('then rejected credentials wait a minute, however long the call took and the old token serves', () => {
    const rejected = failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED')
    const facts = { retryAfterMs: 0, calledForMs: 9_000, servedMs: 9_000 }
    expect([1, 9].map((failures) => coolDownMs(rejected, failures, facts))).toEqual([60_000, 60_000])
    expect(coolDownMs(rejected, 1, { ...facts, retryAfterMs: 60_001 })).toBe(60_001)
  })

  it('then a longer Retry-After rules', () => {
    const asked = (retryAfterMs: number) => coolDownMs(failure('deferred'), 1, { ...PLAIN, retryAfterMs })
    expect([4_999, 5_001].map(asked)).toEqual([5_000, 5_001])
  })
})
