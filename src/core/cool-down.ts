import { detailsOf, type TokenError } from './errors.ts'
import { retryAfterMsOf } from './retry-delay.ts'
import type { OwnCoolDown, Situation } from './situation.ts'
import type { CoolDown, Retry } from './token-store.ts'

/** A short cool-down, or a short pause before another call, ms. */
export const SHORT_BACKOFF_MS = 1_000
/** The cool-down after a failure of the store, ms. All managers of a process meet it at once. @param chance Uniform in [0, 1). */
export const shortBackoffMs = (chance = 0) => SHORT_BACKOFF_MS * (1 + chance)
/** The cool-down after refused credentials, ms. */
export const MINUTE_MS = 60_000

/**
 * How long callers without a token are refused after a renewal that gave up, ms. Steps longer than the first count from the
 * claim: a service that lets calls hang is probed as often as a service that refuses them.
 *
 * @param retryAfterMs Already clamped, 0 for none.
 */
export function coolDownMs(
  error: TokenError,
  situation: Pick<Situation, 'failures' | 'sinceLeaseMs' | 'usableMs'> & Partial<Pick<Situation, 'chance'>>,
  retryAfterMs: number,
): number {
  const { failures, sinceLeaseMs, usableMs, chance } = situation
  if (error.code === 'ERR_LOGIN_REQUIRED') return Infinity
  if (error.code === 'ERR_STORE_UNAVAILABLE') return shortBackoffMs(chance)
  // A wrong password costs one call a minute, not one per request: services lock accounts after many failures.
  if (error.code === 'ERR_CREDENTIALS_REJECTED') return Math.max(MINUTE_MS, retryAfterMs)
  const steppedMs = Math.max(5_000, Math.min(5_000 * 2 ** (failures - 1), 20_000) - sinceLeaseMs)
  // One more probe before callers have to wait: if the outage is over by then, no caller notices it.
  const backoffMs = usableMs > 2_000 ? Math.min(steppedMs, usableMs - 1_000) : steppedMs
  return Math.max(backoffMs, retryAfterMs)
}

/** The cool-down for all owners of the record. @param failures Renewals in a row that gave up, this one included. */
export function coolDownOf(error: TokenError, ms: number, failures: number): CoolDown {
  const { code, status, serviceCode } = error
  const { loginReason } = detailsOf(error)
  const isFirm = !error.retryable || code === 'ERR_THROTTLED' || retryAfterMsOf(error) > 0
  const details = {
    ...(status !== undefined && { status }),
    ...(serviceCode !== undefined && { serviceCode }),
    ...(loginReason !== undefined && { loginReason }),
  }
  return { kind: 'cool-down', ms, failures, isFirm, code, ...details }
}

/** All that a failed call throws inside a renewal: what callers are told, and what follows. */
export class CallFailed extends Error {
  readonly error: TokenError
  readonly next: Retry | OwnCoolDown

  constructor(error: TokenError, next: Retry | OwnCoolDown) {
    super()
    this.error = error
    this.next = next
  }
}

/** @returns The next call of a renewal that a call has failed in; undefined: there is none. */
export function nextCallOf(thrown: Error): Retry | undefined {
  return thrown instanceof CallFailed && thrown.next.kind === 'retry' ? thrown.next : undefined
}
