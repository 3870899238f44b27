import { detailsOf, outcomeOf, TokenError } from './errors.ts'
import type { RetryOptions } from './manager-options.ts'
import type { Exchange } from './token-source.ts'
import type { CoolDown, GrantedClaim, NewTokens, RefreshTokenFate, Retry } from './token-store.ts'

/** The options of `retry`, with their defaults. */
export type RetryPolicy = Readonly<Record<keyof RetryOptions, number>>

export interface RenewalPolicy {
  readonly retry: RetryPolicy
  /** How long the service accepts a used refresh token, ms. Infinity: until the token expires. */
  readonly graceMs: number
  /** The longest that a caller can wait, ms. */
  readonly maxWaitMs: number
}

/** What the manager knows of an exchange that failed, beside its error. Durations in ms. */
export interface FailureFacts {
  readonly exchange: Exchange
  /** The number of the failed call in its renewal, from 1. */
  readonly attempt: number
  /** Calls that this renewal may make. */
  readonly maxAttempts: number
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** Renewals in a row that gave up, this one included. */
  readonly failures: number
  /** How long the call took to fail. */
  readonly calledForMs: number
  /** How long the old access token still serves requests without a wait. */
  readonly servedMs: number
  /** Uniform in [0, 1). */
  readonly chance: number
}

/** What to do after an exchange that failed. */
export interface Plan {
  readonly error: TokenError
  readonly fate: RefreshTokenFate
  /** The service found the refresh token invalid: suspicious, unless something explains it (specification, section 3). */
  readonly judged: boolean
  /** The next call is an obtain, in this renewal or in the next one. */
  readonly obtains: boolean
  /** The credentials were refused, which settles a suspicion. */
  readonly isAccountRefused: boolean
  /** The service asked for a pause. */
  readonly isAsked: boolean
  /** The next call of this renewal; or the renewal gives up, and all owners of the record rest. */
  readonly next: Retry | CoolDown
}

/** The rest after the service answered and refused only the refresh token: the next obtain need not wait long. */
const SHORT_REST_MS = 1_000

/** What to do after an exchange that failed: the table of outcomes, the retries and the cool-down (design: Renewal). */
export function planAfter(error: TokenError, facts: FailureFacts, policy: RenewalPolicy): Plan {
  const { fate, next, judged = false } = consequenceOf(facts.exchange, error, facts.signatureFailures, policy.graceMs)
  const obtains = next === 'obtain'
  const isAccountRefused = facts.exchange === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED'
  const retryAfterMs = Math.min(askedMsOf(error), policy.retry.maxRetryAfterMs)
  const plan = { error, fate, judged, obtains, isAccountRefused, isAsked: retryAfterMs > 0 }
  // If no caller can wait as long as the service asks, the renewal gives up, and all callers learn it at once.
  const isTooLong = next === 'retry' && retryAfterMs > policy.maxWaitMs
  if (next !== 'stop' && facts.attempt < facts.maxAttempts && !isTooLong) {
    const pause = obtains ? 0 : pauseMs(facts.attempt, error, retryAfterMs, policy.retry, facts.chance)
    return { ...plan, next: { kind: 'retry', ms: pause } }
  }
  const isShort = obtains && outcomeOf(error) === 'rejected'
  const restMs = isShort ? SHORT_REST_MS : coolDownMs(error, facts, retryAfterMs)
  return { ...plan, next: coolDownOf(error, restMs, facts.failures) }
}

/** The plan for a token that had expired when it arrived: the call took long, or this machine slept. Its claim is settled. */
export function planAfterLateArrival(error: TokenError, facts: FailureFacts): Plan {
  const next: Plan['next'] =
    facts.attempt < facts.maxAttempts
      ? { kind: 'retry', ms: SHORT_REST_MS }
      : coolDownOf(error, coolDownMs(error, facts, 0), facts.failures)
  return { error, fate: 'keep', judged: false, obtains: false, isAccountRefused: false, isAsked: false, next }
}

/** Without its store a process cannot see whether somebody has logged in elsewhere: the store is missing, not the login. */
export function errorUnder({ isPrivate }: GrantedClaim, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

/** The plan for a suspicious refresh token under `onSuspicious: 'stop'`. */
export function planToStop(plan: Plan, failures: number): Plan {
  const { status, serviceCode } = plan.error
  const message = 'A refresh token was refused before its time: the manager stops until reset() or adopt()'
  const error = new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
  return { ...plan, error, next: coolDownOf(error, Infinity, failures) }
}

/** The rest for all owners of the record. @param failures Renewals in a row that gave up, this one included. */
export function coolDownOf(error: TokenError, ms: number, failures: number): CoolDown {
  const { code, status, serviceCode } = error
  const isFirm = !error.retryable || code === 'ERR_THROTTLED' || askedMsOf(error) > 0
  const details = { ...(status !== undefined && { status }), ...(serviceCode !== undefined && { serviceCode }) }
  return { kind: 'cool-down', ms, failures, isFirm, code, ...details }
}

/** The error for callers while the record rests. The failure may be one of another owner. */
export function coolingError(coolDown: CoolDown): TokenError {
  const isLogin = coolDown.code === 'ERR_LOGIN_REQUIRED'
  const message = isLogin
    ? 'A login is required: call adopt() with its tokens'
    : 'Another owner of this account failed to renew'
  return new TokenError(coolDown.code, message, coolDown)
}

/**
 * What the manager tells the store at once. After a refused refresh token it keeps its claim until it knows what the refusal means. If the manager
 * is closed, a pause that the service asks for, or a rest, still holds for the other owners, who make the next call.
 */
export function firstWordOf(
  { fate, next, isAsked }: Plan,
  halted: 'outdated' | 'closed' | undefined,
): Plan['next'] | undefined {
  if (fate === 'dead') return { kind: 'retry', ms: 0 }
  return !halted || (halted === 'closed' && (isAsked || next.kind === 'cool-down')) ? next : undefined
}

/** @returns The pause that the service asked for, ms; 0 for none. `Retry-After` counts on 429 and 5xx only. */
export function askedMsOf(error: TokenError): number {
  const outcome = outcomeOf(error)
  return outcome === 'deferred' || outcome === 'unknown-5xx' ? (detailsOf(error).retryAfterMs ?? 0) : 0
}

/** What a manager knows of refresh tokens beyond what the record says. */
export interface RenewalMemory {
  /** The next exchange must be an obtain, whatever the record holds: the failure of the last refresh requires it. */
  owesObtain: boolean
  /** This refresh token is never presented again, even if the record was not told that it is spent. */
  spent: string | undefined
}

/** The manager presents a refresh token at most this often if it meets a 5xx each time, then retires it. */
const MAX_PRESENTATIONS = 3

/** @returns The refresh token of a claim, if it may be presented now. Undefined: obtain. */
export function tokenToPresent(
  { tokens, presentable, presentations }: GrantedClaim,
  { owesObtain, spent }: RenewalMemory,
  servedMs: number,
): string | undefined {
  const hasEnded = (tokens?.refreshRemainingMs ?? Infinity) <= 0
  // The service may have spent it in spite of the 5xx. While the old access token serves, the manager has time to find out.
  const mayBeSpent = presentations > 0 && (presentations >= MAX_PRESENTATIONS || servedMs <= 0)
  if (!presentable || owesObtain || hasEnded || mayBeSpent || tokens?.refreshToken === spent) return undefined
  return tokens?.refreshToken
}

interface Presented {
  readonly claim: Pick<GrantedClaim, 'tokens'>
  readonly refreshToken: string | undefined
}

/** @returns What a call brought. A reusable refresh token stays good if the answer brings no other (RFC 6749, section 6). */
export function withRefreshToken(
  granted: NewTokens,
  { claim, refreshToken }: Presented,
  graceMs: number,
  sinceClaimMs: number,
): NewTokens {
  if (graceMs < Infinity || granted.refreshToken !== undefined || refreshToken === undefined) return granted
  const leftMs = claim.tokens?.refreshRemainingMs
  return { ...granted, refreshToken, ...(leftMs !== undefined && { refreshRemainingMs: leftMs - sinceClaimMs }) }
}

/** What a failed exchange means for the refresh token that was presented, and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: at once, with the credentials. */
  readonly next: 'stop' | 'retry' | 'obtain'
  readonly judged?: boolean
}

/**
 * The table of outcomes (design: Renewal). The source says what became of the refresh token. If it says nothing, the outcome
 * decides. No HTTP status decides here.
 *
 * @param signatureFailures In this renewal, this one included.
 * @param graceMs How long the service accepts a used refresh token.
 */
export function consequenceOf(
  exchange: Exchange,
  error: TokenError,
  signatureFailures: number,
  graceMs: number,
): Consequence {
  const outcome = outcomeOf(error)
  // Only a person can correct it.
  const isFinal = outcome === 'rejected' || (!error.retryable && error.code !== 'ERR_SIGNATURE')
  if (exchange === 'obtain') return { fate: 'keep', next: isFinal || signatureFailures > 1 ? 'stop' : 'retry' }
  const said = detailsOf(error).refreshToken ?? (error.code === 'ERR_REFRESH_REJECTED' ? 'refused' : outcome)
  const isReusable = graceMs === Infinity
  switch (said) {
    case 'refused':
      return { fate: 'dead', next: 'obtain', judged: true }
    case 'unusable':
      return { fate: 'dead', next: 'obtain' }
    case 'kept':
    case 'rejected':
    case 'deferred':
    case 'not-sent':
      // A retryable code (ERR_REFRESH_REJECTED) says nothing about the credentials, so the manager obtains with them.
      return { fate: 'keep', next: !isFinal ? 'retry' : error.retryable ? 'obtain' : 'stop' }
    case 'unknown-5xx':
      // Not counted, if the service accepts the token until the next call.
      return { fate: isReusable ? 'keep' : askedMsOf(error) < graceMs ? 'doubtful' : 'counted', next: 'retry' }
    default:
      return { fate: isReusable ? 'keep' : 'doubtful', next: graceMs === 0 ? 'obtain' : isFinal ? 'stop' : 'retry' }
  }
}

/**
 * The pause before the next call, ms: a random time between half of an exponential step and the whole step. A longer
 * `Retry-After` replaces that half, so jitter only lengthens it.
 *
 * @param attempt The number of the failed call, from 1.
 * @param retryAfterMs Already clamped, 0 for none.
 * @param random Uniform in [0, 1).
 */
export function pauseMs(
  attempt: number,
  error: TokenError,
  retryAfterMs: number,
  policy: RetryPolicy,
  random: number,
): number {
  const baseMs = policy.baseDelayMs * (outcomeOf(error) === 'deferred' ? 2 : 1)
  // The exponent is bounded, because 0 * Infinity is NaN.
  const halfMs = Math.min(policy.maxDelayMs, baseMs * 2 ** Math.min(attempt - 1, 60)) / 2
  const clamped = retryAfterMs >= policy.maxRetryAfterMs && retryAfterMs >= halfMs
  return Math.max(halfMs, retryAfterMs) + (clamped ? 0 : random * halfMs)
}

/**
 * How long callers without a token are refused after a renewal that gave up, ms. Steps longer than the first count from the
 * start of the call: a service that lets calls hang is probed as often as a service that refuses them.
 *
 * @param retryAfterMs Already clamped, 0 for none.
 */
export function coolDownMs(
  error: TokenError,
  { failures, calledForMs, servedMs }: Pick<FailureFacts, 'failures' | 'calledForMs' | 'servedMs'>,
  retryAfterMs: number,
): number {
  if (error.code === 'ERR_LOGIN_REQUIRED') return Infinity
  // A wrong password costs one call a minute, not one per request: services lock accounts after many failures.
  if (error.code === 'ERR_CREDENTIALS_REJECTED') return Math.max(60_000, retryAfterMs)
  const steppedMs = Math.max(5_000, Math.min(5_000 * 2 ** (failures - 1), 20_000) - calledForMs)
  // One more probe before callers have to wait: if the outage is over by then, no caller notices it.
  const backoffMs = servedMs > 2_000 ? Math.min(steppedMs, servedMs - 1_000) : steppedMs
  return Math.max(backoffMs, retryAfterMs)
}

/** What is odd about the refresh token in the answer to a refresh. A reusable one may be absent, or the same again. */
export function oddRotation(presented: string | undefined, next: string | undefined, graceMs: number) {
  if (graceMs === Infinity || presented === undefined || (next !== undefined && next !== presented)) return undefined
  return next === undefined
    ? "A refresh answer carried no refresh token: only refreshTokens: 'reusable' keeps the old one"
    : 'A refresh answer carried the same refresh token again'
}
