import { detailsOf, outcomeOf, type TokenError } from './errors.ts'
import type { RetryPolicy } from './manager-options.ts'

/** @returns The pause that the service asked for, ms; 0 for none. `Retry-After` counts on 429 and 5xx only. */
export function retryAfterMsOf(error: TokenError): number {
  const outcome = outcomeOf(error)
  return outcome === 'deferred' || outcome === 'unknown-5xx' ? (detailsOf(error).retryAfterMs ?? 0) : 0
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
