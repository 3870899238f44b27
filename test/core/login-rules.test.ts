import { describe, expect, it } from '@jest/globals'
import { type ExchangeOutcome, TokenError, type TokenErrorCode, type TokenErrorDetails } from '../../src/core/errors.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import { planAfter } from '../../src/core/plan.ts'
import { errorIfPrivate } from '../../src/record/failure-of-other.ts'
import type { OwnCoolDown, Plan, Situation } from '../../src/core/situation.ts'
import type { Lease } from '../../src/core/lease.ts'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import { LOGIN_POLICY, SITUATION } from '../support/situation.ts'

const TEN_MINUTES = 600_000
const failed = (code: TokenErrorCode, details: TokenErrorDetails = {}) => new TokenError(code, 'failed', details)
const lost = failed('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown' })
const refused = failed('ERR_REFRESH_REJECTED', { status: 400, serviceCode: 'invalid_grant' })
const ended = failed('ERR_LOGIN_REQUIRED', { loginReason: 'interaction' })

describe('given a failed refresh of a login, when its consequence is computed', () => {
  const consequence = (error: TokenError, facts: Partial<Situation> = {}, graceMs = 0) => {
    const policy = { ...LOGIN_POLICY, graceMs }
    const { fate, next, foundInvalid, reason } = LOGIN_RULES.consequenceOf(error, { ...SITUATION, ...facts }, policy)
    return [fate, next, foundInvalid && 'invalid', reason].filter(Boolean).join(' ')
  }

  type Cell = [TokenErrorCode, ExchangeOutcome | undefined, TokenErrorDetails['refreshToken'], string]
  // The table of the design (Logins) where no access token is valid.
  it.each<Cell>([
    ['ERR_REFRESH_REJECTED', 'rejected', undefined, 'dead login invalid'],
    ['ERR_REFRESH_REJECTED', 'rejected', 'refused', 'dead login invalid'],
    ['ERR_REFRESH_REJECTED', 'rejected', 'unusable', 'dead login refused'],
    ['ERR_REFRESH_REJECTED', 'rejected', 'kept', 'keep stop'],
    ['ERR_CREDENTIALS_REJECTED', 'rejected', 'kept', 'keep stop'],
    ['ERR_CREDENTIALS_REJECTED', 'rejected', undefined, 'keep stop'],
    ['ERR_TOKEN_REQUEST', 'rejected', undefined, 'keep stop'],
    ['ERR_TOKEN_REQUEST', 'not-sent', undefined, 'keep stop'],
    ['ERR_THROTTLED', 'deferred', undefined, 'keep retry'],
    ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'not-sent', undefined, 'keep retry'],
    ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx', 'kept', 'keep retry'],
    ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown-5xx', undefined, 'counted retry'],
    ['ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown', undefined, 'doubtful retry'],
    ['ERR_TOKEN_RESPONSE', 'accepted', undefined, 'doubtful retry'],
    ['ERR_TOKEN_SOURCE', 'unknown', undefined, 'doubtful stop'],
    ['ERR_LOGIN_REQUIRED', 'rejected', 'refused', 'dead login invalid'],
  ])('then %s, %s, refresh token %s: %s (F196, F197)', (code, outcome, refreshToken, expected) => {
    expect(consequence(failed(code, { outcome, refreshToken }))).toBe(expected)
  })

  it('then a reason from the source ends the login', () => {
    expect(consequence(ended)).toBe('dead login interaction')
  })

  it('then a refresh token in doubt waits while an access token is valid, unless the service accepts a used one', () => {
    expect([0, 5_000, Infinity].map((graceMs) => consequence(lost, { usableMs: 60_000 }, graceMs))).toEqual([
      'doubtful while-usable',
      'doubtful retry',
      'keep retry',
    ])
    const broken = failed('ERR_TOKEN_SOURCE', { outcome: 'unknown' })
    expect(consequence(broken, {}, Infinity)).toBe('keep stop')
  })

  it('then it is presented three times in one renewal, and as often as allowed where it is reusable', () => {
    const down = failed('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown-5xx' })
    const presented = (error: TokenError, graceMs: number) =>
      [2, 3].map((times) => consequence(error, { presented: times }, graceMs))
    expect(presented(down, 0)).toEqual(['counted retry', 'counted stop'])
    expect(presented(lost, 0)).toEqual(['doubtful retry', 'doubtful stop'])
    expect(presented(down, Infinity)).toEqual(['keep retry', 'keep retry'])
  })

  it('then a pause within the grace leaves it in doubt, which the grace covers', () => {
    const asks = (retryAfterMs: number) =>
      consequence(failed('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown-5xx', retryAfterMs }), {}, 5_000)
    expect([4_999, 5_000].map(asks)).toEqual(['doubtful retry', 'counted retry'])
  })

  const says = 'ERR_TOKEN_REQUEST   '
  it.each<[string, Situation['lease']['unclear'], string]>([
    ['the first', undefined, 'keep stop'],
    ['the second', { says, times: 1, sinceMs: TEN_MINUTES }, 'keep stop'],
    ['the third, after ten minutes', { says, times: 2, sinceMs: TEN_MINUTES }, 'dead login refused'],
    ['the third, sooner', { says, times: 2, sinceMs: TEN_MINUTES - 1 }, 'keep stop'],
    ['the third, and the others had another error code', { says: 'else', times: 2, sinceMs: TEN_MINUTES }, 'keep stop'],
  ])('then a rejection with an unknown error code that is %s in a row: %s, %s (F203)', (_, unclear, expected) => {
    expect(
      consequence(failed('ERR_TOKEN_REQUEST', { outcome: 'rejected' }), {
        lease: { presentations: 0, ...(unclear && { unclear }) },
      }),
    ).toBe(expected)
  })
})

const plan = (error: TokenError, facts: Partial<Situation> = {}, graceMs = 0) =>
  planAfter(error, { ...SITUATION, ...facts }, { ...LOGIN_POLICY, graceMs })

describe('given a renewal of a login, when its plan after a failure is computed', () => {
  it('then the first presentation after a lost response follows after one to two seconds, later ones as usual', () => {
    const pause = (facts: Partial<Situation>, graceMs?: number) => plan(lost, facts, graceMs).next.ms
    expect([0, 0.5].map((chance) => pause({ chance }))).toEqual([1_000, 1_500])
    expect(pause({ lease: { presentations: 0, isDoubted: true } })).toBe(250)
    expect(pause({}, 5_000)).toBe(250)
    expect(plan(failed('ERR_TOKEN_SERVICE_UNAVAILABLE', { outcome: 'unknown-5xx' })).next.ms).toBe(250)
  })

  it('then only this manager waits with a refresh token in doubt, until the access token has expired', () => {
    const waiting = plan(lost, { usableMs: 30_000 })
    expect(waiting.next).toMatchObject({ kind: 'cool-down', ms: 30_000, whileUsable: true })
    // The access token of another owner may expire at another time.
    expect(waiting.shared).toBeUndefined()
    for (const facts of [{ usableMs: 30_000, isRejected: true }, { usableMs: 0 }])
      expect(plan(lost, facts).next).toEqual({ kind: 'retry', ms: 1_000 })
    const stopped = plan(failed('ERR_TOKEN_REQUEST', { outcome: 'rejected' }), { usableMs: 30_000 })
    expect(stopped.next).toMatchObject({ kind: 'cool-down', ms: 60_000 })
    expect((stopped.next as OwnCoolDown).whileUsable).toBeUndefined()
    expect(stopped.shared).toBe(stopped.next)
  })

  it('then the cool-down of a login that ended is endless, and has the reason', () => {
    const rest = (error: TokenError) => plan(error).next
    expect(rest(ended)).toMatchObject({ ms: Infinity, code: 'ERR_LOGIN_REQUIRED', loginReason: 'interaction' })
    expect(rest(failed('ERR_REFRESH_REJECTED', { refreshToken: 'unusable', status: 403 }))).toMatchObject({
      ...{ ms: Infinity, code: 'ERR_LOGIN_REQUIRED', loginReason: 'refused', status: 403 },
    })
  })

  it('then a custom source that requires a login without a reason means: rejected; the reason of another manager is kept', () => {
    const asks = (details: TokenErrorDetails) => plan(failed('ERR_LOGIN_REQUIRED', details)).error.loginReason
    expect([asks({}), asks({ loginReason: 'expired' }), asks({ refreshToken: 'kept' })]).toEqual([
      'refused',
      'expired',
      undefined,
    ])
    expect(plan(lost).error).toBe(lost)
  })
})

describe('given a rejected refresh token of a login, when the store is updated', () => {
  const living = {
    version: 1,
    accessToken: 'a',
    accessLifetimeMs: 60_000,
    accessRemainingMs: 0,
    refreshRemainingMs: 90_000,
  }
  const lease = { presentations: 0, tokens: living }
  const judged = (facts: Partial<Situation> = {}) => plan(refused, { failures: 2, lease: lease, ...facts })

  it.each<[string, Partial<Situation>, string]>([
    ['has expired', { lease: { ...lease, tokens: { ...living, refreshRemainingMs: 0 } } }, 'expired'],
    ['was in doubt', { lease: { ...lease, isDoubted: true } }, 'in-doubt'],
    ['met a 5xx', { met5xx: true }, 'in-doubt'],
    ['may have been used by another owner', { meanwhile: { contested: true } }, 'in-doubt'],
    ['should be valid', {}, 'refused'],
  ])('then one that %s has its reason (F205)', (_, facts, loginReason) => {
    const { error, next, shared, suspicion } = judged(facts)
    const told = { code: 'ERR_LOGIN_REQUIRED', loginReason, status: 400, serviceCode: 'invalid_grant' }
    expect(error).toMatchObject(told)
    expect(next).toEqual({ kind: 'cool-down', ms: Infinity, failures: 2, isFirm: true, ...told })
    expect(shared).toBe(next)
    expect(suspicion === undefined).toBe(loginReason === 'expired')
  })

  it('then an access token that the API has rejected is dropped too (F206)', () => {
    expect(judged({ isRejected: true })).toMatchObject({ drops: true })
    expect(judged().drops).toBe(false)
  })

  const meanwhile = { contested: true, newer: 'unfit' } as const

  it('then a newer token set of another owner is tried at once, even after a probe of one request', () => {
    for (const maxAttempts of [1, 4])
      expect(judged({ meanwhile, maxAttempts })).toMatchObject({ error: refused, next: { kind: 'retry', ms: 0 } })
  })

  it('then no login is required after the last request of a renewal if there is a newer token set (F274)', () => {
    const { error, next, suspicion } = judged({ meanwhile, attempt: 4 })
    expect([error, suspicion]).toEqual([refused, undefined])
    expect(next).toMatchObject({ kind: 'cool-down', ms: 60_000, code: 'ERR_REFRESH_REJECTED' })
  })
})

describe('given a lease for a login, when its exchange is chosen', () => {
  const TOKENS: StoredTokens = {
    ...{ version: 1, accessToken: 'a', accessLifetimeMs: 60_000, accessRemainingMs: 0 },
    ...{ refreshToken: 'r', refreshRemainingMs: -1 },
  }
  const CLAIM: Lease = {
    ...{ kind: 'granted', fence: 1, version: 1, presentations: 9, failures: 0 },
    ...{ presentable: true, tokens: TOKENS },
  }
  const NONE = { ...TOKENS, refreshToken: undefined } as unknown as StoredTokens
  const choice = (lease: Partial<Lease>, facts = {}) =>
    LOGIN_RULES.choose(
      { ...CLAIM, ...lease },
      { usableMs: 0, failures: 3, mustObtain: false, isForced: false, isRejected: false, ...facts },
    )

  it('then its refresh token is presented past its computed expiry, and however often it met a 5xx (F212)', () => {
    expect(choice({})).toBe('r')
  })

  it.each<[string, Partial<Lease>, object, string]>([
    ['it is retired', { presentable: false }, {}, 'refused'],
    ['there is none', { tokens: NONE }, {}, 'expired'],
    ['there is none, and the API rejected the access token', { tokens: NONE }, { isRejected: true }, 'refused'],
    ['no user has logged in', { tokens: undefined }, {}, 'none-yet'],
    ['the store lost the login', { tokens: undefined, missing: 'lost' } as never, {}, 'lost'],
  ])('when %s, then a login is required for the right reason (F205)', (_, lease, facts, loginReason) => {
    const planned = choice(lease, facts)
    expect(planned).toMatchObject({ fate: 'keep', error: { code: 'ERR_LOGIN_REQUIRED', loginReason } })
    expect(planned).toMatchObject({ next: { kind: 'cool-down', ms: Infinity, failures: 3 } })
    const { next, shared } = planned as Plan
    expect(shared).toBe(next)
    expect((planned as Plan).drops).toBe('isRejected' in facts)
  })

  it('then a token in doubt waits while the access token is valid, unless the caller forces a renewal', () => {
    const waits = choice({ isLastResort: true }, { usableMs: 20_000 })
    expect(waits).toMatchObject({
      fate: 'keep',
      shared: undefined,
      error: { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'not-sent' },
      // Nothing has failed now.
      next: { kind: 'cool-down', ms: 20_000, failures: 2, whileUsable: true },
    })
    const facts = [{ usableMs: 0 }, { usableMs: 20_000, isForced: true }, { usableMs: 20_000, isRejected: true }]
    expect(facts.map((one) => choice({ isLastResort: true }, one))).toEqual(['r', 'r', 'r'])
  })

  it('then no user is sent to log in while the store is unavailable', () => {
    const alone: Lease = { ...CLAIM, isPrivate: true }
    expect(errorIfPrivate(alone, ended)).toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: 'The shared token store is unavailable, and only the store may hold the tokens of a login',
      outcome: 'not-sent',
    })
    expect([errorIfPrivate(alone, lost), errorIfPrivate(CLAIM, ended)]).toEqual([lost, ended])
    const planned = choice({ presentable: false, isPrivate: true }, { isRejected: true })
    expect(planned).toMatchObject({ error: { code: 'ERR_STORE_UNAVAILABLE' } })
    expect((planned as Plan).drops).toBe(false)
  })
})
