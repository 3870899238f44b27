import { describe, expect, it } from '@jest/globals'
import { type ExchangeOutcome, TokenError, type TokenErrorCode, type TokenErrorDetails } from '../../src/core/errors.ts'
import { consequenceOf, coolDownMs, type FailureFacts, pauseMs, planAfter } from '../../src/core/renewal-plan.ts'

const POLICY = { maxAttempts: 4, baseDelayMs: 500, maxDelayMs: 20_000, maxRetryAfterMs: 300_000 }
const failure = (outcome: ExchangeOutcome, status?: number, code: TokenErrorCode = 'ERR_TOKEN_SERVICE_UNAVAILABLE') =>
  new TokenError(code, 'failed', { outcome, status })

type Said = TokenErrorDetails['refreshToken']

/** The table of outcomes of the design, cell by cell: what is known, what the source says, obtain, refresh. */
const CELLS: [TokenErrorCode, ExchangeOutcome | undefined, Said, string, string][] = [
  ['ERR_CREDENTIALS_REJECTED', 'rejected', undefined, 'keep stop', 'keep stop'],
  ['ERR_CREDENTIALS_REJECTED', undefined, undefined, 'keep stop', 'keep stop'],
  ['ERR_CREDENTIALS_REJECTED', 'rejected', 'kept', 'keep stop', 'keep stop'],
  ['ERR_REFRESH_REJECTED', 'rejected', undefined, 'keep stop', 'dead obtain judged'],
  ['ERR_REFRESH_REJECTED', undefined, undefined, 'keep stop', 'dead obtain judged'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'refused', 'keep stop', 'dead obtain judged'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'unusable', 'keep stop', 'dead obtain'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'kept', 'keep stop', 'keep obtain'],
  ['ERR_TOKEN_REQUEST', 'rejected', undefined, 'keep stop', 'keep stop'],
  ['ERR_TOKEN_REQUEST', undefined, 'kept', 'keep stop', 'keep stop'],
  ['ERR_TOKEN_REQUEST', 'not-sent', undefined, 'keep stop', 'keep stop'],
  ['ERR_THROTTLED', 'deferred', undefined, 'keep retry', 'keep retry'],
  ['ERR_THROTTLED', undefined, undefined, 'keep retry', 'keep retry'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'not-sent', undefined, 'keep retry', 'keep retry'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx', undefined, 'keep retry', 'counted retry'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown', undefined, 'keep retry', 'doubtful obtain'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown', 'kept', 'keep retry', 'keep retry'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', undefined, undefined, 'keep retry', 'doubtful obtain'],
  ['ERR_TOKEN_RESPONSE', undefined, undefined, 'keep retry', 'doubtful obtain'],
  ['ERR_SIGNATURE', 'unknown', undefined, 'keep retry', 'doubtful obtain'],
  ['ERR_TOKEN_SOURCE', 'unknown', undefined, 'keep stop', 'doubtful obtain'],
]

describe('given an exchange that failed, when its consequence is asked for', () => {
  const consequence = (exchange: 'obtain' | 'refresh', error: TokenError) => {
    const { fate, next, judged } = consequenceOf(exchange, error, 0)
    return judged ? `${fate} ${next} judged` : `${fate} ${next}`
  }

  it.each(CELLS)('then %s, %s, refresh token %s: obtain %s, refresh %s', (code, outcome, said, obtain, refresh) => {
    for (const status of [undefined, 200, 400, 401, 403, 404, 429, 503]) {
      const error = new TokenError(code, 'failed', { outcome, status, refreshToken: said })
      expect([consequence('obtain', error), consequence('refresh', error)]).toEqual([obtain, refresh])
    }
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

describe('given an exchange that failed, when it is planned what follows', () => {
  const FACTS: FailureFacts = {
    exchange: 'refresh',
    attempt: 1,
    maxAttempts: 4,
    signatureFailures: 0,
    failures: 1,
    retryAfterMs: 0,
    calledForMs: 0,
    servedMs: 0,
    chance: 0,
  }
  const plan = (error: TokenError, facts: Partial<FailureFacts> = {}) =>
    planAfter(error, { ...FACTS, ...facts }, { retry: POLICY, maxWaitMs: 30_000 })
  const down = failure('unknown-5xx')
  const refused = new TokenError('ERR_REFRESH_REJECTED', 'failed', { refreshToken: 'refused' })

  it('then a call that may be repeated is, after its pause', () => {
    expect(plan(down)).toEqual({ fate: 'counted', judged: false, obtains: false, delayMs: 250 })
    expect(plan(down, { attempt: 3, chance: 0.5 })).toMatchObject({ delayMs: 1_500 })
  })

  it('then a refused refresh token is judged, and the credentials follow at once', () => {
    expect(plan(refused)).toEqual({ fate: 'dead', judged: true, obtains: true, delayMs: 0 })
  })

  it.each<[string, TokenError, Partial<FailureFacts>, number]>([
    ['the last call has failed', down, { attempt: 4 }, 5_000],
    ['the last call has failed, for the third time', down, { attempt: 4, failures: 3 }, 20_000],
    ['no call can help', failure('rejected', 404, 'ERR_TOKEN_REQUEST'), {}, 5_000],
    ['the credentials are refused', failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED'), {}, 60_000],
    ['the service asks for more than a caller waits', down, { retryAfterMs: 30_001 }, 30_001],
    [
      'a signature is wrong again',
      failure('unknown', 200, 'ERR_SIGNATURE'),
      { exchange: 'obtain', signatureFailures: 2 },
      5_000,
    ],
    ['the last refresh was refused', refused, { attempt: 4 }, 1_000],
    ['the last refresh was lost', failure('unknown'), { attempt: 4 }, 5_000],
  ])('then %s, and everybody rests', (_, error, facts, restMs) => {
    expect(plan(error, facts).restMs).toBe(restMs)
  })

  it.each<[string, TokenError, Partial<FailureFacts>]>([
    ['one call is left', down, { attempt: 3 }],
    ['the service asks for as long as a caller waits', down, { retryAfterMs: 30_000 }],
    ['the service asks for more, and the credentials need not wait', failure('unknown'), { retryAfterMs: 30_001 }],
  ])('then %s, and nobody rests', (_, error, facts) => {
    expect(plan(error, facts)).not.toHaveProperty('restMs')
  })

  it('then a renewal that ends with a refused or lost refresh token leaves the credentials to the next', () => {
    for (const error of [refused, failure('unknown')]) expect(plan(error, { attempt: 4 }).obtains).toBe(true)
    for (const error of [down, failure('deferred')]) expect(plan(error, { attempt: 4 }).obtains).toBe(false)
  })
})
