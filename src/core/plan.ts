import { detailsOf, outcomeOf, TokenError } from './errors.ts'
import type { RetryPolicy } from './manager-options.ts'
import type { Consequence, OwnCoolDown, Plan, Policy, Situation } from './situation.ts'
import type { RejectedRefreshToken } from './suspicion.ts'
import { KEPT, type RefreshTokenFate, type Report, type Retry } from './lease.ts'
import { bare, type Whole } from './whole.ts'

/**
 * The plan after a failed exchange: the table of outcomes, the retries and the cool-down (`docs/renewal.md`). It is computed inside the step
 * that releases the lease, so that no other owner can change the record in between.
 */
export function planAfter(error: TokenError, situation: Situation, policy: Policy): Plan {
  const { exchange, meanwhile, halted } = situation
  const consequence = bare(policy.rules.consequenceOf(error, situation, policy))
  const { fate, foundInvalid = false } = consequence
  const suspicion = foundInvalid ? suspicionIn(situation, policy) : undefined
  const retryAfterMs = Math.min(retryAfterMsOf(error), policy.retry.maxRetryAfterMs)
  const reported = errorAfter(error, consequence, suspicion, situation, policy)
  const obtains = consequence.next === 'obtain'
  const plan = {
    error: reported,
    fate,
    suspicion,
    adopts: meanwhile?.newer === 'fit' && !halted,
    obtains: obtains && !meanwhile?.newer,
    isSpent: fate === 'dead' || (obtains && fate !== 'keep'),
    isAccountRejected: exchange === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED',
    hasRetryAfter: retryAfterMs > 0,
    next: nextAfter(reported, bare({ ...situation, ...consequence }), policy, retryAfterMs),
  }
  return { ...plan, ...reportOf(plan, consequence, situation) }
}

/** Newer tokens in the record explain the rejection. So does a reset, because it follows a change of credentials. */
function suspicionIn(situation: Situation, { rules }: Policy): Plan['suspicion'] {
  const { meanwhile, halted } = situation
  if (meanwhile?.newer || halted === 'outdated') return undefined
  const rejected = rejectedTokenIn(situation)
  const suspicion = rules.suspicionOf(rejected)
  return suspicion && { ...suspicion, remainingMs: rejected.remainingMs }
}

function rejectedTokenIn({
  lease,
  sinceLeaseMs,
  meanwhile,
  met5xx = false,
  isRotated = false,
}: Situation): RejectedRefreshToken {
  const { tokens, presentations, isDoubted, overlapped } = lease
  const { accessLifetimeMs = 0, accessRemainingMs = 0, refreshRemainingMs } = tokens ?? {}
  return {
    remainingMs: refreshRemainingMs === undefined ? undefined : refreshRemainingMs - sinceLeaseMs,
    uncertaintyMs: uncertaintyOf(accessLifetimeMs - accessRemainingMs + sinceLeaseMs),
    attemptedBefore: presentations > 0 || isDoubted === true,
    met5xx,
    contested: overlapped === true || meanwhile?.contested === true,
    storeReachable: meanwhile !== undefined,
    isRotated,
  }
}

/** The error for callers and listeners. */
function errorAfter(
  error: TokenError,
  consequence: Consequence,
  suspicion: Plan['suspicion'],
  situation: Situation,
  { onSuspicious, rules }: Policy,
): TokenError {
  if (suspicion && onSuspicious === 'stop') return stopAfter(error)
  return rules.errorAfter?.(error, consequence, suspicion, situation) ?? error
}

/** The error for a suspicious refresh token with `onSuspicious: 'stop'`. */
function stopAfter(error: TokenError): TokenError {
  const { status, serviceCode } = detailsOf(error)
  const message = 'A refresh token was rejected before it expired: the manager stops until reset() or adopt()'
  return new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
}

function nextAfter(
  error: TokenError,
  known: Situation & Consequence,
  policy: Policy,
  retryAfterMs: number,
): Plan['next'] {
  const { next, failures, leastMs = 0, mostMs = Infinity } = known
  if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') return coolDownOf(error, Infinity, failures)
  const pause = pauseIn(error, known, policy, retryAfterMs)
  if (pause !== undefined) return { kind: 'retry', ms: pause }
  if (next === 'while-usable') return { ...coolDownOf(error, known.usableMs, failures), whileUsable: true }
  const ms = Math.max(leastMs, coolDownMs(error, known, retryAfterMs))
  return coolDownOf(error, Math.min(mostMs, ms), failures)
}

/** The pause before the next request of this renewal, ms; undefined if there is none. */
function pauseIn(
  error: TokenError,
  known: Situation & Consequence,
  { retry, renewal }: Policy,
  retryAfterMs: number,
): number | undefined {
  const { next, foundInvalid, isFirstDoubt, attempt, maxAttempts, meanwhile, chance } = known
  const isReplaced = foundInvalid === true && meanwhile?.newer !== undefined
  const isImmediate = next === 'obtain' || isReplaced
  // The request has not shown whether the account works: the refresh endpoint is gone, or the refresh token was superseded. So even a probe, which
  // is limited to one request, makes another.
  const isInconclusive = isImmediate && (isReplaced || isRefreshGone(error))
  if (attempt >= (isInconclusive ? retry.maxAttempts : maxAttempts)) return undefined
  if (isImmediate) return 0
  // If no caller can wait as long as the service asks, the renewal fails immediately for all callers.
  if (next !== 'retry' || retryAfterMs > renewal.maxWaitMs) return undefined
  return isFirstDoubt ? shortBackoffMs(chance) : pauseMs(attempt, error, retryAfterMs, retry, chance)
}

/** Whether what follows applies to all owners of the record. */
function isForAll({ adopts, hasRetryAfter, next }: Omit<Plan, 'shared'>, halted: Situation['halted']): boolean {
  const isCoolDown = next.kind === 'cool-down'
  // The access token of another owner may expire at a different time.
  if (adopts || (isCoolDown && next.whileUsable === true)) return false
  // Even a closed manager reports a cool-down, or a pause that the service asked for: another owner makes the next request.
  return !halted || (halted === 'closed' && (hasRetryAfter || isCoolDown))
}

/** The report to the record. */
function reportOf(
  plan: Omit<Plan, 'shared'>,
  { fate, foundInvalid, says }: Consequence,
  { halted, isRejected, credentialsDigest }: Situation,
): Whole<Report> {
  const { next, error } = plan
  if (!isForAll(plan, halted)) return { ...KEPT, fate }
  if (next.kind !== 'cool-down') return { ...KEPT, fate, shared: next }
  const hasEnded = foundInvalid === true && isRejected === true && error.code === 'ERR_LOGIN_REQUIRED'
  const drops = hasEnded || error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN'
  // The rejection of these credentials does not apply to owners with other credentials.
  const by = error.code === 'ERR_CREDENTIALS_REJECTED' ? credentialsDigest : undefined
  return { fate, shared: by === undefined ? next : { ...next, by }, drops, says }
}

/**
 * The plan after a successful exchange without a usable access token: the token has a flaw, or it expired before it arrived, because the request took
 * long or the machine slept. The lease is already completed.
 */
export function planAfterLateArrival(error: TokenError, situation: Situation, pauseMs = SHORT_BACKOFF_MS): Plan {
  const { attempt, maxAttempts, failures } = situation
  const next: Plan['next'] =
    attempt < maxAttempts
      ? { kind: 'retry', ms: pauseMs }
      : coolDownOf(error, coolDownMs(error, situation, 0), failures)
  return { ...NO_CONSEQUENCES, error, next }
}

/** The defaults of a plan without consequences for the refresh token. */
export const NO_CONSEQUENCES = {
  fate: 'keep',
  shared: undefined,
  drops: undefined,
  says: undefined,
  suspicion: undefined,
  adopts: false,
  obtains: false,
  isSpent: false,
  isAccountRejected: false,
  hasRetryAfter: false,
} as const

/** What the source reports about the refresh token, else the outcome. */
export function refreshTokenOutcomeOf(error: TokenError) {
  return detailsOf(error).refreshToken ?? (error.code === 'ERR_REFRESH_REJECTED' ? 'refused' : outcomeOf(error))
}

/** The fate of a refresh token whose request got a 5xx. A reusable one stays valid. If the grace covers the pause, this 5xx does not count as a presentation. */
export function fateAfter5xx(error: TokenError, graceMs: number): RefreshTokenFate {
  if (graceMs === Infinity) return 'keep'
  return retryAfterMsOf(error) < graceMs ? 'doubtful' : 'counted'
}

/** Whether the refresh endpoint is gone. A service may disable it while the credentials still work (F229). */
export function isRefreshGone(error: TokenError): boolean {
  return error.code === 'ERR_TOKEN_REQUEST' && outcomeOf(error) === 'rejected'
}

/** Whether requests can still use the current access token. */
export function isUsable({ usableMs, isRejected = false }: Pick<Situation, 'usableMs' | 'isRejected'>): boolean {
  return usableMs > 0 && !isRejected
}

/** The uncertainty of a token's remaining lifetime, ms: 2 s for the latency of two responses, and 200 ppm for clock drift. */
export function uncertaintyOf(ageMs: number): number {
  return 2_000 + ageMs * 0.000_2
}

/** @returns The pause that the service asked for, ms; 0 for none. `Retry-After` counts only on 429 and 5xx. */
export function retryAfterMsOf(error: TokenError): number {
  const outcome = outcomeOf(error)
  return outcome === 'deferred' || outcome === 'unknown-5xx' ? (detailsOf(error).retryAfterMs ?? 0) : 0
}

/**
 * The pause before the next token request, ms: a random time between half of an exponential step and the whole step. A longer `Retry-After` replaces
 * that half, so jitter only lengthens it.
 *
 * @param attempt The number of the failed request, from 1.
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

/** A short cool-down, or a short pause before another request, ms. */
export const SHORT_BACKOFF_MS = 1_000
/** The cool-down after a store failure, ms. Random, because all managers of a process see the failure at the same time. @param chance Uniform in [0, 1). */
export const shortBackoffMs = (chance = 0) => SHORT_BACKOFF_MS * (1 + chance)
/** The cool-down after rejected credentials, ms. */
export const MINUTE_MS = 60_000

/**
 * The cool-down after a failed renewal, ms. Steps longer than the first count from the start of the lease, so that a service that lets requests hang
 * is probed as often as one that rejects them.
 *
 * @param retryAfterMs Already clamped, 0 for none.
 */
export function coolDownMs(
  error: TokenError,
  situation: Pick<Situation, 'failures' | 'sinceLeaseMs' | 'usableMs'> & Partial<Pick<Situation, 'chance' | 'isAlone'>>,
  retryAfterMs: number,
): number {
  const { failures, sinceLeaseMs, usableMs, chance = 0, isAlone } = situation
  if (error.code === 'ERR_LOGIN_REQUIRED') return Infinity
  if (error.code === 'ERR_STORE_UNAVAILABLE') return shortBackoffMs(chance)
  // A wrong password causes one token request per minute, not one per request: services lock accounts after many failures.
  if (error.code === 'ERR_CREDENTIALS_REJECTED') return Math.max(retryAfterMs, MINUTE_MS)
  // Processes without a common store spread their requests over minutes, because their repeated requests would get all of them throttled (F417).
  if (error.code === 'ERR_THROTTLED' && isAlone && failures > 2)
    return Math.max(retryAfterMs, MINUTE_MS * (2 + 3 * chance))
  const steppedMs = Math.max(5_000, Math.min(5_000 * 2 ** (failures - 1), 20_000) - sinceLeaseMs)
  // One more probe before the token expires: if the outage is over by then, no caller notices it.
  const backoffMs = usableMs > 2_000 ? Math.min(steppedMs, usableMs - 1_000) : steppedMs
  return Math.max(backoffMs, retryAfterMs)
}

/** The cool-down for all owners of the record. @param failures Consecutive failed renewals, including this one. */
export function coolDownOf(error: TokenError, ms: number, failures: number): Whole<OwnCoolDown> {
  const { code } = error
  const { status, serviceCode, loginReason } = detailsOf(error)
  const isFirm = !error.retryable || code === 'ERR_THROTTLED' || retryAfterMsOf(error) > 0
  return {
    kind: 'cool-down',
    ms,
    failures,
    isFirm,
    code,
    status,
    serviceCode,
    loginReason,
    by: undefined,
    whileUsable: undefined,
  }
}

/** Thrown inside a renewal by a failed token request: the error for callers, and what follows. */
export class CallFailed extends Error {
  readonly error: TokenError
  readonly next: Retry | OwnCoolDown

  constructor(error: TokenError, next: Retry | OwnCoolDown) {
    super()
    this.error = error
    this.next = next
  }
}

/** @returns The next token request of a renewal after a failure; undefined if there is none. */
export function nextCallOf(thrown: Error): Retry | undefined {
  return thrown instanceof CallFailed && thrown.next.kind === 'retry' ? thrown.next : undefined
}
