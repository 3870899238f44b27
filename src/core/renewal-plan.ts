import { detailsOf, outcomeOf, type TokenError } from './errors.ts'
import type { RefreshTokenFate } from './token-store.ts'

export interface RetryPolicy {
  readonly maxAttempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly maxRetryAfterMs: number
}

/** What is known when an exchange has failed, beside its error. Durations in ms. */
export interface FailureFacts {
  readonly exchange: 'obtain' | 'refresh'
  /** The call that failed, the first of its renewal being 1. */
  readonly attempt: number
  /** Calls that this renewal may make. */
  readonly maxAttempts: number
  /** Signatures found wrong in this renewal, this one included. */
  readonly signatureFailures: number
  /** Renewals in a row that gave up, this one included if it does. */
  readonly failures: number
  /** Believed and clamped, 0 for none. */
  readonly retryAfterMs: number
  /** How long the call took to fail. */
  readonly calledForMs: number
  /** How long the old token still serves without waiting. */
  readonly servedMs: number
  /** Uniform in [0, 1). */
  readonly chance: number
}

/** What to do after an exchange that failed. */
export interface Plan {
  readonly fate: RefreshTokenFate
  /** The refresh token was found invalid: suspicious, unless it is explained (specification, section 3). */
  readonly judged: boolean
  /** The next call, of this renewal or of the next one, obtains. */
  readonly obtains: boolean
  /** Before the next call of this renewal. */
  readonly delayMs: number
  /** The renewal gives up: nobody makes a token call for this long. */
  readonly restMs?: number
}

/** The service is there, only the refresh token was not to its liking: the credentials need not wait long. */
const SHORT_REST_MS = 1_000

/** What to do after an exchange that failed: the table of outcomes, the retries and the cool-down (design: Renewal). */
export function planAfter(
  error: TokenError,
  facts: FailureFacts,
  policy: { readonly retry: RetryPolicy; readonly maxWaitMs: number },
): Plan {
  const { exchange, attempt, retryAfterMs } = facts
  const { fate, next, judged = false } = consequenceOf(exchange, error, facts.signatureFailures)
  const obtains = next === 'obtain'
  const delayMs = obtains ? 0 : pauseMs(attempt, error, retryAfterMs, policy.retry, facts.chance)
  // Where no caller can wait as long as the service asks, the cool-down tells everyone at once.
  const isTooLong = next === 'retry' && retryAfterMs > policy.maxWaitMs
  if (next !== 'stop' && attempt < facts.maxAttempts && !isTooLong) return { fate, judged, obtains, delayMs }
  const isShort = obtains && outcomeOf(error) === 'rejected'
  return { fate, judged, obtains, delayMs, restMs: isShort ? SHORT_REST_MS : coolDownMs(error, facts.failures, facts) }
}

/** What a failed exchange means for the refresh token that was presented, and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: at once, with the credentials. */
  readonly next: 'stop' | 'retry' | 'obtain'
  /** The refresh token was found invalid: suspicious, unless it is explained (specification, section 3). */
  readonly judged?: boolean
}

/**
 * The table of outcomes (design: Renewal). The source says what became of the refresh token; where it says nothing, the
 * outcome does. No HTTP status decides here.
 *
 * @param signatureFailures In this renewal, this one included.
 */
export function consequenceOf(
  exchange: 'obtain' | 'refresh',
  error: TokenError,
  signatureFailures: number,
): Consequence {
  const outcome = outcomeOf(error)
  // Nobody can mend it but a person.
  const isFinal = outcome === 'rejected' || (!error.retryable && error.code !== 'ERR_SIGNATURE')
  if (exchange === 'obtain') return { fate: 'keep', next: isFinal || signatureFailures > 1 ? 'stop' : 'retry' }
  switch (detailsOf(error).refreshToken ?? (error.code === 'ERR_REFRESH_REJECTED' ? 'refused' : outcome)) {
    case 'refused':
      return { fate: 'dead', next: 'obtain', judged: true }
    case 'unusable':
      return { fate: 'dead', next: 'obtain' }
    case 'kept':
    case 'rejected':
    case 'deferred':
    case 'not-sent':
      // Credentials that were refused will be refused again; others may still obtain.
      return { fate: 'keep', next: !isFinal ? 'retry' : error.retryable ? 'obtain' : 'stop' }
    case 'unknown-5xx':
      return { fate: 'counted', next: 'retry' }
    default:
      return { fate: 'doubtful', next: 'obtain' }
  }
}

/**
 * The pause before the next call: uniform in the upper half of an exponential step. `Retry-After` takes the place of the
 * fixed half, so jitter only lengthens it.
 *
 * @param attempt The call that failed, the first being 1.
 * @param retryAfterMs Believed and clamped, 0 for none.
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
  // Bounded, for 0 times Infinity is no number.
  const halfMs = Math.min(policy.maxDelayMs, baseMs * 2 ** Math.min(attempt - 1, 60)) / 2
  const clamped = retryAfterMs >= policy.maxRetryAfterMs && retryAfterMs >= halfMs
  return Math.max(halfMs, retryAfterMs) + (clamped ? 0 : random * halfMs)
}

/**
 * How long callers without a token are refused after a renewal that gave up. Steps longer than the first count from when the
 * service was called: one that lets calls hang is probed as often as one that refuses them.
 *
 * @param failures In a row, at least 1.
 */
export function coolDownMs(
  error: TokenError,
  failures: number,
  { retryAfterMs, calledForMs, servedMs }: Pick<FailureFacts, 'retryAfterMs' | 'calledForMs' | 'servedMs'>,
): number {
  // A wrong password costs one call a minute, not one per request: accounts get locked.
  if (error.code === 'ERR_CREDENTIALS_REJECTED') return Math.max(60_000, retryAfterMs)
  const steppedMs = Math.max(5_000, Math.min(5_000 * 2 ** (failures - 1), 20_000) - calledForMs)
  // One more probe while nobody waits yet: an outage that is over by then is felt by nobody.
  const backoffMs = servedMs > 2_000 ? Math.min(steppedMs, servedMs - 1_000) : steppedMs
  return Math.max(backoffMs, retryAfterMs)
}
