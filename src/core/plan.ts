import { coolDownMs, coolDownOf, SHORT_BACKOFF_MS } from './cool-down.ts'
import { pauseMs as usualPauseMs, retryAfterMsOf } from './retry-delay.ts'
import { TokenError } from './errors.ts'
import {
  type Consequence,
  isRefreshGone,
  NOTHING_FAILED,
  type OwnCoolDown,
  type Plan,
  type Policy,
  type Situation,
} from './situation.ts'
import { type RejectedRefreshToken, type Suspicion, uncertaintyOf } from './suspicion.ts'
import type { Report } from './token-store.ts'

/**
 * What to do after an exchange that failed: the table of outcomes, the retries and the cool-down (design: Renewal, Logins). The step that tells the
 * record computes it, so the plan is whole, and no other owner comes between.
 */
export function planAfter(error: TokenError, situation: Situation, policy: Policy): Plan {
  const { exchange, meanwhile, halted } = situation
  const consequence = policy.rules.consequenceOf(error, situation, policy)
  const { fate, judged = false } = consequence
  const suspicion = judged ? suspicionIn(situation, policy) : undefined
  const retryAfterMs = Math.min(retryAfterMsOf(error), policy.retry.maxRetryAfterMs)
  const told = errorAfter(error, consequence, suspicion, situation, policy)
  const obtains = consequence.next === 'obtain'
  const plan = {
    error: told,
    fate,
    suspicion,
    adopts: meanwhile?.newer === 'fit' && !halted,
    obtains: obtains && !meanwhile?.newer,
    isSpent: fate === 'dead' || (obtains && fate !== 'keep'),
    isAccountRejected: exchange === 'obtain' && error.code === 'ERR_CREDENTIALS_REJECTED',
    hasRetryAfter: retryAfterMs > 0,
    next: nextAfter(told, consequence, situation, policy, retryAfterMs),
  }
  return { ...plan, ...reportOf(plan, consequence, situation) }
}

/** A newer pair explains the refusal. So does a reset, because it follows a change of credentials. */
function suspicionIn(situation: Situation, { rules }: Policy): Plan['suspicion'] {
  const { meanwhile, halted } = situation
  if (meanwhile?.newer || halted === 'outdated') return undefined
  const refused = rejectedTokenIn(situation)
  const suspicion = rules.suspicionOf(refused)
  return suspicion && { ...suspicion, remainingMs: refused.remainingMs }
}

function rejectedTokenIn({
  lease: lease,
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

/** What callers and listeners are told. */
function errorAfter(
  error: TokenError,
  consequence: Consequence,
  suspicion: Suspicion | undefined,
  situation: Situation,
  { onSuspicious, rules }: Policy,
): TokenError {
  if (suspicion && onSuspicious === 'stop') return stopAfter(error)
  return rules.errorAfter?.(error, consequence, suspicion, situation) ?? error
}

/** A suspicious refresh token under `onSuspicious: 'stop'`. */
function stopAfter({ status, serviceCode }: TokenError): TokenError {
  const message = 'A refresh token was refused before its time: the manager stops until reset() or adopt()'
  return new TokenError('ERR_SUSPICIOUS_REFRESH_TOKEN', message, { status, serviceCode })
}

function nextAfter(
  error: TokenError,
  consequence: Consequence,
  situation: Situation,
  policy: Policy,
  retryAfterMs: number,
): Plan['next'] {
  const { next, judged = false } = consequence
  const { attempt, maxAttempts, meanwhile, failures } = situation
  if (error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN') return coolDownOf(error, Infinity, failures)
  const isReplaced = judged && meanwhile?.newer !== undefined
  const isAtOnce = next === 'obtain' || isReplaced
  // If no caller can wait as long as the service asks, the renewal gives up, and all callers learn it at once.
  const isTooLong = next === 'retry' && retryAfterMs > policy.renewal.maxWaitMs
  // The call has not shown whether the account works: the refresh endpoint is gone, or the refresh token was old. So even a probe, which may make
  // one call, makes another.
  const isBlind = isAtOnce && (isReplaced || isRefreshGone(error))
  const mayCall = (isAtOnce || next === 'retry') && attempt < (isBlind ? policy.retry.maxAttempts : maxAttempts)
  if (mayCall && isAtOnce) return { kind: 'retry', ms: 0 }
  if (mayCall && !isTooLong)
    return { kind: 'retry', ms: pauseAfter(error, consequence, situation, policy, retryAfterMs) }
  return coolDownAfter(error, consequence, situation, retryAfterMs)
}

function coolDownAfter(
  error: TokenError,
  { next, leastMs = 0, mostMs = Infinity }: Consequence,
  situation: Situation,
  retryAfterMs: number,
): OwnCoolDown {
  const { failures, usableMs } = situation
  if (next === 'while-served') return { ...coolDownOf(error, usableMs, failures), whileUsable: true }
  const ms = Math.max(leastMs, coolDownMs(error, situation, retryAfterMs))
  return coolDownOf(error, Math.min(mostMs, ms), failures)
}

function pauseAfter(
  error: TokenError,
  { isFirstDoubt = false }: Consequence,
  { attempt, chance }: Situation,
  { retry }: Policy,
  retryAfterMs: number,
): number {
  return isFirstDoubt ? SHORT_BACKOFF_MS * (1 + chance) : usualPauseMs(attempt, error, retryAfterMs, retry, chance)
}

/** If the manager is closed, a pause that the service asks for, or a cool-down, must still reach the other owners, who make the next call. */
function reportOf(
  { adopts, hasRetryAfter, next, error }: Omit<Plan, 'shared'>,
  { judged, says }: Consequence,
  { halted, isRejected, credentialsDigest }: Situation,
): Omit<Report, 'fate'> {
  const isCoolDown = next.kind === 'cool-down'
  const isShared = !halted || (halted === 'closed' && (hasRetryAfter || isCoolDown))
  // The access token of another owner may end at another time.
  if (adopts || !isShared || (isCoolDown && next.whileUsable === true)) return { shared: undefined }
  if (!isCoolDown) return { shared: next }
  const isEnd = judged === true && isRejected === true && error.code === 'ERR_LOGIN_REQUIRED'
  const drops = isEnd || error.code === 'ERR_SUSPICIOUS_REFRESH_TOKEN'
  // A refusal says nothing about the credentials of other owners.
  const by = error.code === 'ERR_CREDENTIALS_REJECTED' ? credentialsDigest : undefined
  const shared = by === undefined ? next : { ...next, by }
  return { shared, ...(drops && { drops }), ...(says !== undefined && { says }) }
}

/**
 * The plan for an exchange that was accepted, and brought no access token that can be used: it has a flaw, or had expired when it arrived, because the call
 * took long, or this machine slept. Its claim is settled.
 */
export function planAfterLateArrival(error: TokenError, situation: Situation, pauseMs = SHORT_BACKOFF_MS): Plan {
  const { attempt, maxAttempts, failures } = situation
  const next: Plan['next'] =
    attempt < maxAttempts
      ? { kind: 'retry', ms: pauseMs }
      : coolDownOf(error, coolDownMs(error, situation, 0), failures)
  return { ...NOTHING_FAILED, error, shared: undefined, next }
}
