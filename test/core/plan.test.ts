import { describe, expect, it } from '@jest/globals'
import { type ExchangeOutcome, TokenError, type TokenErrorCode, type TokenErrorDetails } from '../../src/core/errors.ts'
import { CREDENTIAL_RULES } from '../../src/core/credential-rules.ts'
import { Events } from '../../src/core/events.ts'
import { coolDownMs, pauseMs, planAfter, planAfterLateArrival } from '../../src/core/plan.ts'
import { failureOfOther } from '../../src/record/failure-of-other.ts'
import type { RenewalState, Situation } from '../../src/core/situation.ts'
import type { Exchange } from '../../src/core/token-source.ts'
import type { Lease } from '../../src/core/lease.ts'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import { LoginWatch } from '../../src/login/login-watch.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { POLICY, RETRY, SITUATION } from '../support/situation.ts'

const failure = (outcome: ExchangeOutcome, status?: number, code: TokenErrorCode = 'ERR_TOKEN_SERVICE_UNAVAILABLE') =>
  new TokenError(code, 'failed', { outcome, status })

type Said = TokenErrorDetails['refreshToken']

const TOKENS: StoredTokens = { version: 1, accessToken: 'a', accessLifetimeMs: 60_000, accessRemainingMs: 0 }

/** The outcome table of the design: code, outcome, error code of the source; consequences for an obtain and a refresh. */
const CELLS: [TokenErrorCode, ExchangeOutcome | undefined, Said, string, string][] = [
  ['ERR_CREDENTIALS_REJECTED', 'rejected', undefined, 'keep stop', 'keep stop'],
  ['ERR_CREDENTIALS_REJECTED', undefined, undefined, 'keep stop', 'keep stop'],
  ['ERR_CREDENTIALS_REJECTED', 'rejected', 'kept', 'keep stop', 'keep stop'],
  ['ERR_REFRESH_REJECTED', 'rejected', undefined, 'keep stop', 'dead obtain invalid'],
  ['ERR_REFRESH_REJECTED', undefined, undefined, 'keep stop', 'dead obtain invalid'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'refused', 'keep stop', 'dead obtain invalid'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'unusable', 'keep stop', 'dead obtain'],
  ['ERR_REFRESH_REJECTED', 'rejected', 'kept', 'keep stop', 'keep obtain'],
  ['ERR_TOKEN_REQUEST', 'rejected', undefined, 'keep stop', 'keep stop'],
  ['ERR_TOKEN_REQUEST', undefined, 'kept', 'keep stop', 'keep stop'],
  ['ERR_LOGIN_REQUIRED', undefined, undefined, 'keep stop', 'keep stop'],
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

describe('given a failed exchange, when its consequence is computed', () => {
  const consequence = (exchange: 'obtain' | 'refresh', error: TokenError, graceMs = 0) => {
    const situation = { ...SITUATION, exchange, usableMs: 60_000 }
    const { fate, next, foundInvalid } = CREDENTIAL_RULES.consequenceOf(error, situation, { ...POLICY, graceMs })
    return foundInvalid ? `${fate} ${next} invalid` : `${fate} ${next}`
  }

  it.each(CELLS)('then %s, %s, refresh token %s: obtain %s, refresh %s', (code, outcome, said, obtain, refresh) => {
    for (const status of [undefined, 200, 400, 401, 403, 404, 429, 503]) {
      const error = new TokenError(code, 'failed', { outcome, status, refreshToken: said })
      expect([consequence('obtain', error), consequence('refresh', error)]).toEqual([obtain, refresh])
    }
  })

  it.each<[string, TokenErrorCode, ExchangeOutcome, Said, string, string]>([
    // The last two columns: within a grace, and for reusable refresh tokens.
    ['the response was lost', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown', undefined, 'doubtful retry', 'keep retry'],
    ['the service failed', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx', undefined, 'doubtful retry', 'keep retry'],
    ['the response is unusable', 'ERR_TOKEN_RESPONSE', 'accepted', undefined, 'doubtful retry', 'keep retry'],
    ['the source is broken', 'ERR_TOKEN_SOURCE', 'unknown', undefined, 'doubtful stop', 'keep stop'],
    ['it was rejected', 'ERR_REFRESH_REJECTED', 'rejected', undefined, 'dead obtain invalid', 'dead obtain invalid'],
    ['it is unusable', 'ERR_REFRESH_REJECTED', 'rejected', 'unusable', 'dead obtain', 'dead obtain'],
    ['it was not sent', 'ERR_TOKEN_SERVICE_UNAVAILABLE', 'not-sent', undefined, 'keep retry', 'keep retry'],
  ])(
    'when %s and a used refresh token stays valid for a while, or for ever, then it may be sent again (F158)',
    (_, code, outcome, said, inGrace, reusable) => {
      const error = new TokenError(code, 'failed', { outcome, refreshToken: said })
      expect([consequence('refresh', error, 5_000), consequence('refresh', error, Infinity)]).toEqual([
        inGrace,
        reusable,
      ])
    },
  )

  it('then a wrong signature is retried once', () => {
    const wrong = failure('unknown', undefined, 'ERR_SIGNATURE')
    const after = (signatureFailures: number) =>
      CREDENTIAL_RULES.consequenceOf(wrong, { ...SITUATION, exchange: 'obtain', signatureFailures }, POLICY)
    expect([1, 2].map((failures) => after(failures).next)).toEqual(['retry', 'stop'])
  })
})

describe('given a failed request, when the pause before the next one is drawn', () => {
  it.each([
    // attempt, lowest pause, upper bound (never reached)
    [1, 250, 500],
    [2, 500, 1_000],
    [3, 1_000, 2_000],
    [6, 8_000, 16_000],
    [7, 10_000, 20_000],
    [60, 10_000, 20_000],
  ])('then after request %i it is at least %i ms and less than %i ms', (attempt, lowest, highest) => {
    const pause = (random: number) => pauseMs(attempt, failure('unknown-5xx'), 0, RETRY, random)
    expect([pause(0), pause(0.5), pause(1)]).toEqual([lowest, (lowest + highest) / 2, highest])
  })

  it('then after 429 it is twice as long', () => {
    expect(pauseMs(1, failure('deferred'), 0, RETRY, 0)).toBe(500)
    expect(pauseMs(1, failure('deferred'), 0, RETRY, 1)).toBe(1_000)
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
    'then Retry-After of %i ms is a lower bound that jitter %i turns into %i ms, and its ceiling is exact',
    (retryAfterMs, random, expected) => {
      expect(pauseMs(1, failure('unknown-5xx'), retryAfterMs, RETRY, random)).toBe(expected)
    },
  )

  it('then a ceiling that equals its own backoff is exact as well', () => {
    expect(pauseMs(1, failure('unknown-5xx'), 250, { ...RETRY, maxRetryAfterMs: 250 }, 1)).toBe(250)
  })

  it('then a policy that ignores Retry-After keeps its own backoff', () => {
    expect(pauseMs(1, failure('unknown-5xx'), 0, { ...RETRY, maxRetryAfterMs: 0 }, 1)).toBe(500)
  })
})

describe('given a failed renewal, when its cool-down is computed', () => {
  const coolDown = (
    error: TokenError,
    { failures = 1, sinceLeaseMs = 0, usableMs = 0, retryAfterMs = 0 }: Partial<Record<string, number>> = {},
  ) => coolDownMs(error, { failures, sinceLeaseMs: sinceLeaseMs, usableMs: usableMs }, retryAfterMs)

  it('then it is endless where a user must log in', () => {
    expect(coolDown(failure('rejected', undefined, 'ERR_LOGIN_REQUIRED'), { usableMs: 60_000 })).toBe(Infinity)
  })

  it('then it is 5, 10, 20, 20 … s', () => {
    expect([1, 2, 3, 4, 99].map((failures) => coolDown(failure('unknown-5xx'), { failures }))).toEqual([
      5_000, 10_000, 20_000, 20_000, 20_000,
    ])
  })

  it.each([
    // duration of the request, failures, cool-down
    [10_000, 1, 5_000],
    [5_000, 2, 5_000],
    [4_999, 2, 5_001],
    [10_000, 3, 10_000],
    [15_001, 3, 5_000],
    [3_000, 9, 17_000],
  ])(
    'when the request hung for %d ms, then the cool-down after %d failed renewals in a row counts from its start: %d ms',
    (ms, failures, cool) => {
      expect(coolDown(failure('unknown'), { failures, sinceLeaseMs: ms })).toBe(cool)
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
    'when the old token is valid for another %d ms, then the next probe comes a second before its expiry, or at its time',
    (usableMs, ms) => {
      expect(coolDown(failure('unknown-5xx'), { usableMs })).toBe(ms)
    },
  )

  it('then rejected credentials wait a minute, however long the request took and the old token is valid', () => {
    const rejected = failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED')
    const facts = { sinceLeaseMs: 9_000, usableMs: 9_000 }
    expect([1, 9].map((failures) => coolDown(rejected, { ...facts, failures }))).toEqual([60_000, 60_000])
    expect(coolDown(rejected, { ...facts, retryAfterMs: 60_001 })).toBe(60_001)
  })

  it('then a longer Retry-After applies', () => {
    const asked = (retryAfterMs: number) => coolDown(failure('deferred'), { retryAfterMs })
    expect([4_999, 5_001].map(asked)).toEqual([5_000, 5_001])
  })
})

describe('given a failed exchange, when the next step is planned', () => {
  const plan = (error: TokenError, facts: Partial<Situation> = {}) =>
    planAfter(error, { ...SITUATION, ...facts }, POLICY)
  const down = failure('unknown-5xx')
  const asking = (retryAfterMs: number, outcome: ExchangeOutcome = 'unknown-5xx') =>
    new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'failed', { outcome, retryAfterMs })
  const refused = new TokenError('ERR_REFRESH_REJECTED', 'failed', { refreshToken: 'refused' })
  const NOTHING = {
    suspicion: undefined,
    adopts: false,
    obtains: false,
    isSpent: false,
    isAccountRejected: false,
    hasRetryAfter: false,
  }

  it('then a request that may be repeated is repeated after its pause', () => {
    const next = { kind: 'retry', ms: 250 }
    expect(plan(down)).toEqual({ ...NOTHING, error: down, fate: 'counted', next, shared: next })
    expect(plan(down, { attempt: 3, chance: 0.5 }).next).toEqual({ kind: 'retry', ms: 1_500 })
  })

  it('then a rejected refresh token is reported, and the credentials follow at once', () => {
    const next = { kind: 'retry', ms: 0 }
    const suspicion = { evidence: 'expiry-unknown', severity: 'medium', remainingMs: undefined }
    const said = { ...NOTHING, error: refused, fate: 'dead', suspicion, obtains: true, isSpent: true }
    expect(plan(refused)).toEqual({ ...said, next, shared: next })
    const alone = { evidence: 'store-unreachable', severity: 'medium', remainingMs: 90_000 }
    const lease = { presentations: 0, tokens: { ...TOKENS, refreshRemainingMs: 100_000 } }
    expect(plan(refused, { lease: lease, sinceLeaseMs: 10_000, meanwhile: undefined }).suspicion).toEqual(alone)
  })

  it('then a refresh token that expired, or that a newer token set or a reset explains, is not reported', () => {
    const lease = { presentations: 0, tokens: { ...TOKENS, refreshRemainingMs: -10_000 } }
    const newer = { contested: true, newer: 'unfit' } as const
    const explained: Partial<Situation>[] = [{ lease: lease }, { meanwhile: newer }, { halted: 'outdated' }]
    for (const facts of explained) expect(plan(refused, facts)).toMatchObject({ fate: 'dead', suspicion: undefined })
    expect(plan(refused, { meanwhile: newer })).toMatchObject({ obtains: false, next: { kind: 'retry', ms: 0 } })
  })

  it('then usable newer tokens are adopted, and the store is not updated again, unless the renewal is halted', () => {
    const meanwhile = { contested: true, newer: 'fit' } as const
    for (const error of [down, refused, failure('unknown')])
      for (const attempt of [1, 4])
        expect(plan(error, { meanwhile, attempt })).toMatchObject({
          adopts: true,
          obtains: false,
          shared: undefined,
        })
    expect(plan(down, { meanwhile, halted: 'closed' }).adopts).toBe(false)
  })

  /** `renew()` does not end a firm cool-down, because another renewal may not help, or is not wanted. */
  it.each<[string, TokenError, boolean]>([
    ['the service is down', down, false],
    ['the service responds with a page', failure('unknown', 200, 'ERR_TOKEN_RESPONSE'), false],
    ['the service asks for a pause', asking(30_001), true],
    ['there were too many requests', failure('deferred', 429, 'ERR_THROTTLED'), true],
    ['the credentials are rejected', failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED'), true],
    ['a user must log in', failure('rejected', undefined, 'ERR_LOGIN_REQUIRED'), true],
  ])('when %s, then the cool-down is firm or not', (_, error, isFirm) => {
    expect(plan(error, { exchange: 'obtain', attempt: 4 }).next).toMatchObject({ kind: 'cool-down', isFirm })
  })

  it.each<[string, TokenError, Partial<Situation>, number]>([
    ['the last request has failed', down, { attempt: 4 }, 5_000],
    ['the last request has failed, for the third time', down, { attempt: 4, failures: 3 }, 20_000],
    ['no request can help', failure('rejected', 404, 'ERR_TOKEN_REQUEST'), { usableMs: 60_000 }, 5_000],
    ['the credentials are rejected', failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED'), {}, 60_000],
    ['the service asks for more than a caller waits', asking(30_001), {}, 30_001],
    ['the service asks for more than the maximum', asking(300_001), {}, 300_000],
    [
      'a signature is wrong again',
      failure('unknown', 200, 'ERR_SIGNATURE'),
      { exchange: 'obtain', signatureFailures: 2 },
      5_000,
    ],
    ['the last refresh was rejected', refused, { attempt: 4 }, 1_000],
    ['the last refresh was lost', failure('unknown'), { attempt: 4 }, 5_000],
  ])('then %s, and all callers cool down', (_, error, facts, ms) => {
    const { code, status } = error
    const details = { ...(status !== undefined && { status }) }
    // With toStrictEqual, because unknown details must be absent.
    const next = { kind: 'cool-down', ms, failures: facts.failures ?? 1, isFirm: expect.any(Boolean), code, ...details }
    expect(plan(error, facts).next).toEqual(next)
  })

  it.each<[string, TokenError, Partial<Situation>]>([
    ['one request is left', down, { attempt: 3 }],
    ['the service asks for as long as a caller waits', asking(30_000), {}],
    ['the service asks for more, and the credentials need not wait', asking(30_001, 'unknown'), {}],
  ])('then %s, and there is no cool-down', (_, error, facts) => {
    expect(plan(error, facts).next.kind).toBe('retry')
  })

  it('then a renewal that ends with a rejected or lost refresh token leaves the credentials to the next one', () => {
    for (const error of [refused, failure('unknown')]) expect(plan(error, { attempt: 4 }).obtains).toBe(true)
    for (const error of [down, failure('deferred')]) expect(plan(error, { attempt: 4 }).obtains).toBe(false)
  })

  it('then only credentials rejected by an obtain settle a suspicion', () => {
    const wrong = failure('rejected', 401, 'ERR_CREDENTIALS_REJECTED')
    const settles = (exchange: Exchange, error: TokenError) => plan(error, { exchange }).isAccountRejected
    expect([settles('obtain', wrong), settles('refresh', wrong), settles('obtain', down)]).toEqual([true, false, false])
  })

  it('then a Retry-After applies to 429 and 5xx only', () => {
    const asked = (outcome: ExchangeOutcome) => plan(asking(2_000, outcome)).hasRetryAfter
    expect((['deferred', 'unknown-5xx', 'unknown', 'rejected', 'not-sent'] as const).map(asked)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
    expect(plan(asking(0)).hasRetryAfter).toBe(false)
  })

  it('then the store is updated with the next step at once', () => {
    const shared = (error: TokenError, facts: Partial<Situation> = {}) =>
      ([undefined, 'closed', 'outdated'] as const).map((halted) => plan(error, { ...facts, halted }).shared)
    // A cool-down, and a pause that the service asks for, concern all owners. The pause between two requests is the owner's own.
    const rest = plan(down, { attempt: 4 }).next
    expect(shared(down, { attempt: 4 })).toEqual([rest, rest, undefined])
    const asked = plan(asking(2_000)).next
    expect(shared(asking(2_000))).toEqual([asked, asked, undefined])
    expect(shared(down)).toEqual([plan(down).next, undefined, undefined])
    expect(shared(failure('unknown'))).toEqual([{ kind: 'retry', ms: 0 }, undefined, undefined])
    expect(shared(refused)).toEqual([{ kind: 'retry', ms: 0 }, undefined, undefined])
  })

  it('when a suspicion stops everything, then the cool-down has no end, and its error states the remedy', () => {
    const rejected = new TokenError('ERR_REFRESH_REJECTED', 'failed', { status: 401, serviceCode: '2007' })
    const stop = { ...POLICY, onSuspicious: 'stop' } as const
    const { error, next, shared } = planAfter(rejected, { ...SITUATION, failures: 3 }, stop)
    const told = { code: 'ERR_SUSPICIOUS_REFRESH_TOKEN', status: 401, serviceCode: '2007' }
    expect(error).toMatchObject({ ...told, message: expect.stringContaining('until reset()') })
    expect(next).toEqual({ kind: 'cool-down', ms: Infinity, failures: 3, isFirm: true, ...told })
    expect(shared).toBe(next)
  })
})

describe('given a token that arrived expired, when the next step is planned', () => {
  const late = new TokenError('ERR_TOKEN_RESPONSE', 'late')

  it.each([
    [1, 1, { kind: 'retry', ms: 1_000 }],
    [3, 1, { kind: 'retry', ms: 1_000 }],
    [4, 1, { kind: 'cool-down', ms: 5_000, failures: 1, isFirm: false, code: 'ERR_TOKEN_RESPONSE' }],
    [4, 2, { kind: 'cool-down', ms: 10_000, failures: 2, isFirm: false, code: 'ERR_TOKEN_RESPONSE' }],
  ])('then after request %d, in failed renewal %d in a row, it is %j', (attempt, failures, next) => {
    const nothing = { adopts: false, obtains: false, isSpent: false, isAccountRejected: false, hasRetryAfter: false }
    const known = { ...nothing, error: late, fate: 'keep', shared: undefined }
    expect(planAfterLateArrival(late, { ...SITUATION, attempt, failures })).toEqual({ ...known, next })
  })
})

describe('given a granted lease, when it is decided whether to present its refresh token', () => {
  const tokens = { version: 5, accessToken: 'a', accessLifetimeMs: 1, accessRemainingMs: 0, refreshToken: 'r' }
  const EMPTY: Lease = {
    kind: 'granted',
    fence: 1,
    version: 5,
    presentable: true,
    presentations: 0,
    failures: 0,
  }
  const CLAIM: Lease = { ...EMPTY, tokens }
  const FRESH = {}

  it.each<[string, Lease, Partial<RenewalState>, number, boolean]>([
    ['nothing speaks against it', CLAIM, FRESH, 0, true],
    ['the record has no tokens', EMPTY, FRESH, 0, false],
    ['it is retired', { ...CLAIM, presentable: false }, FRESH, 0, false],
    ['the credentials are due', CLAIM, { mustObtain: true }, 0, false],
    ['a millisecond is left of it', { ...CLAIM, tokens: { ...tokens, refreshRemainingMs: 1 } }, FRESH, 0, true],
    ['it has expired', { ...CLAIM, tokens: { ...tokens, refreshRemainingMs: 0 } }, FRESH, 0, false],
    ['it met a 5xx while the old token is valid', { ...CLAIM, presentations: 2 }, FRESH, 1, true],
    ['it met a 5xx, and no token is valid', { ...CLAIM, presentations: 1 }, FRESH, 0, false],
    ['it met a third 5xx', { ...CLAIM, presentations: 3 }, FRESH, 1, false],
  ])('when %s', (_, lease, known, usableMs, isPresented) => {
    const state = { mustObtain: false, isForced: false, failures: 1, ...known, usableMs }
    expect(CREDENTIAL_RULES.choose(lease, state)).toBe(isPresented ? 'r' : undefined)
  })
})

describe('given a cool-down that another owner began, when a caller meets it (F224)', () => {
  const resting = { kind: 'cool-down', ms: 5_000, failures: 1, isFirm: false } as const
  const login = new LoginWatch(new Events(manualClock()), false, false)

  it('then the error states what that owner met, and the response of the service', () => {
    const met = (status?: number) =>
      failureOfOther({ ...resting, code: 'ERR_THROTTLED', ...(status !== undefined && { status }) }, login)
    const message = 'Another owner of this account failed to renew: the service throttles token requests'
    expect(met()).toMatchObject({ code: 'ERR_THROTTLED', message })
    expect(met(429)).toMatchObject({ status: 429, message: `${message} (the service responded with 429)` })
  })

  it('then a login that has ended has its reason', () => {
    const ended = { ...resting, code: 'ERR_LOGIN_REQUIRED' } as const
    expect(failureOfOther({ ...ended, loginReason: 'expired' }, login).message).toBe(
      'A login is required (expired: the login has expired): call adopt() with its tokens',
    )
    expect(failureOfOther(ended, login).message).toContain('(refused: ')
  })
})

describe('given a refresh endpoint that is gone, when the next step is planned (F229)', () => {
  const gone = failure('rejected', 404, 'ERR_TOKEN_REQUEST')
  const after = (error: TokenError, facts: Partial<Situation> = {}) =>
    planAfter(error, { ...SITUATION, ...facts }, POLICY)

  it('then the credentials follow at once if no access token is valid, even in a probe of one request', () => {
    for (const maxAttempts of [4, 1])
      expect(after(gone, { maxAttempts })).toMatchObject({
        fate: 'keep',
        obtains: true,
        next: { kind: 'retry', ms: 0 },
      })
    expect(after(gone, { attempt: 4 }).next).toMatchObject({ kind: 'cool-down', ms: 5_000 })
  })

  it('then the cool-down ends when the access token expires, or earlier', () => {
    expect(after(gone, { usableMs: 60_000 })).toMatchObject({ obtains: false, next: { kind: 'cool-down', ms: 5_000 } })
    expect(after(gone, { usableMs: 1_500 }).next).toMatchObject({ ms: 1_500 })
    const down = failure('unknown-5xx')
    expect(after(down, { usableMs: 1_500, attempt: 4 }).next).toMatchObject({ ms: 5_000 })
  })

  it('then a request that was never sent does not count as rejected', () => {
    expect(after(failure('not-sent', undefined, 'ERR_TOKEN_REQUEST'))).toMatchObject({ obtains: false })
    expect(after(failure('rejected', 400, 'ERR_CREDENTIALS_REJECTED'))).toMatchObject({ obtains: false })
  })
})
