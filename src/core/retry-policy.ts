import { outcomeOf, type TokenError } from './errors.ts'
import type { RefreshTokenFate } from './token-store.ts'

export interface RetryPolicy {
  readonly maxAttempts: number
  readonly baseDelayMs: number
  readonly maxDelayMs: number
  readonly maxRetryAfterMs: number
}

/** What a failed exchange means for the refresh token that was presented, and for the rest of the renewal. */
export interface Consequence {
  readonly fate: RefreshTokenFate
  /** `obtain`: at once, with the credentials. */
  readonly next: 'stop' | 'retry' | 'obtain'
}

/** The table of outcomes (design: Renewal). @param signatureFailures In this renewal, this one included. */
export function consequenceOf(
  exchange: 'obtain' | 'refresh',
  error: TokenError,
  signatureFailures: number,
): Consequence {
  const outcome = outcomeOf(error)
  if (exchange === 'obtain') {
    const stop = outcome === 'rejected' || signatureFailures > 1
    return { fate: 'keep', next: stop ? 'stop' : 'retry' }
  }
  switch (outcome) {
    case 'rejected':
      if (error.status === 403) return { fate: 'keep', next: 'obtain' }
      if (error.status === 401 || error.status === 400 || error.code === 'ERR_REFRESH_REJECTED')
        return { fate: 'dead', next: 'obtain' }
      return { fate: 'keep', next: 'stop' }
    case 'deferred':
    case 'not-sent':
      return { fate: 'keep', next: 'retry' }
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
  const halfMs = Math.min(policy.maxDelayMs, baseMs * 2 ** (attempt - 1)) / 2
  const clamped = retryAfterMs >= policy.maxRetryAfterMs && retryAfterMs >= halfMs
  return Math.max(halfMs, retryAfterMs) + (clamped ? 0 : random * halfMs)
}

/** How long callers without a token are refused after a renewal that gave up. @param failures In a row, at least 1. */
export function coolDownMs(error: TokenError, failures: number, retryAfterMs: number): number {
  const backoffMs = Math.min(5_000 * 2 ** (failures - 1), 20_000)
  // A wrong password costs one call a minute, not one per request: accounts get locked.
  return Math.max(error.code === 'ERR_CREDENTIALS_REJECTED' ? 60_000 : backoffMs, retryAfterMs)
}

/** IMF-fixdate, and the two obsolete forms that a recipient must accept (RFC 9110, section 5.6.7). */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) [A-Z][a-z]{2} \d{4} \d\d:\d\d:[0-5]\d GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-[A-Z][a-z]{2}-\d\d \d\d:\d\d:[0-5]\d GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} ([ \d]\d) \d\d:\d\d:[0-5]\d \d{4}$/,
]

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3: whole seconds or an HTTP-date; everything else is ignored).
 *
 * @param date The response's own `Date`: a date is measured against the clock that wrote it.
 * @param wallNow Used where the response has no date, epoch ms.
 * @returns Ms from now, never negative; undefined when there is nothing to believe.
 */
export function parseRetryAfter(retryAfter: unknown, date: unknown, wallNow: number): number | undefined {
  if (typeof retryAfter !== 'string') return undefined
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1_000
  const at = parseHttpDate(retryAfter)
  return at === undefined ? undefined : Math.max(0, at - (parseHttpDate(date) ?? wallNow))
}

/** @returns Epoch ms, undefined for anything but an HTTP-date. */
export function parseHttpDate(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const day = HTTP_DATES.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined)
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  // Date.parse makes 2 March of 30 February.
  return new Date(at).getUTCDate() === Number(day) ? at : undefined
}
