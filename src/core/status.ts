import { errorWith, type LoginReason, TokenError, type TokenErrorCode } from './errors.ts'
import type { HeldToken } from './held-token.ts'
import type { OwnCoolDown } from './situation.ts'

/** What is known of a renewal in flight. */
export interface Running {
  readonly lastError: TokenError | undefined
  readonly isRepeating?: boolean
}

/** What a manager does about its next token. The current token is no part of it: that serves until the manager is closed. */
export interface Activity {
  /** The renewal that all callers share. */
  readonly renewal: Running | undefined
  /** The pause that the service asked for, or the cool-down after the last renewal, which failed. */
  readonly backoff: Backoff | undefined
  readonly isClosed: boolean
  readonly current?: { readonly living: string | undefined } | undefined
  readonly login?: { readonly isPending: boolean }
}

/** Why a caller gets no token request. */
export type Denial = 'closed' | Backoff
/** What a caller who needs a token request may do: `start` a renewal, `join` the one in flight, or wait for the login that is pending. */
export type Admission = 'start' | 'join' | 'await-login' | Denial

export function isDenial(admitted: Admission): admitted is Denial {
  return admitted === 'closed' || typeof admitted === 'object'
}

/** The manager makes no token call before `until`, monotonic ms. */
export interface Backoff extends Pick<OwnCoolDown, 'failures' | 'isFirm' | 'whileUsable'> {
  /** Infinity: until `reset()`, `adopt()`, or a login elsewhere. */
  readonly until: number
  /** From this instant on a caller asks the record again whether somebody has logged in elsewhere. */
  readonly asksAt?: number
  readonly error: TokenError
}

/** A manager that waits for a login asks the store at most this often whether another owner has logged in, ms. */
export const ASK_MS = 1_000

/** The backoff after a renewal that gave up. */
export function backoffAfter(
  error: TokenError,
  { ms, failures, isFirm, whileUsable }: OwnCoolDown,
  now: number,
): Backoff {
  const ends = error.code === 'ERR_LOGIN_REQUIRED' ? { until: Infinity, asksAt: now + ASK_MS } : { until: now + ms }
  return { ...ends, error, failures, isFirm, whileUsable }
}

/**
 * A backoff forbids to start a renewal, and to join one. Whoever has no token waits for a login that is pending.
 *
 * @param limit Until when the caller can wait, monotonic ms. A caller who can wait longer than a renewal pauses joins it.
 * @param breaksBackoff Whether the caller wants a renewal in spite of a backoff that is not firm.
 */
export function admission(
  { renewal, backoff, isClosed, current, login }: Activity,
  now: number,
  limit = now,
  breaksBackoff = false,
): Admission {
  if (isClosed) return 'closed'
  if (login?.isPending === true && current?.living === undefined) return 'await-login'
  const canJoin = renewal !== undefined
  const endsAt = backoff?.asksAt ?? backoff?.until ?? now
  // If a renewal runs in spite of the backoff, all callers join it.
  const isBroken = backoff?.isFirm === false && (canJoin || breaksBackoff)
  if (backoff && now < endsAt && !isBroken && !(canJoin && limit > endsAt)) return backoff
  return canJoin ? 'join' : 'start'
}

/** Whether the next token may come soon: the renewal makes its first exchange, and the last one has not failed. */
export function isReplacing({ renewal, backoff }: Activity): boolean {
  return renewal !== undefined && renewal.isRepeating !== true && !backoff
}

export interface TokenStatus {
  /**
   * While a token lives, its freshness is the phase, even if renewals fail. `refused`: the API has refused the token, and it cannot be replaced now. A
   * request that succeeds with the token ends this phase.
   */
  phase: 'empty' | 'fresh' | 'due' | 'refused' | 'expired' | 'cooling-down' | 'stopped' | 'closed'
  renewing: boolean
  /** Epoch ms; a lifetime above 24 h counts as 24 h. */
  accessExpiresAt?: number
  /** Epoch ms. */
  refreshExpiresAt?: number
  /** The manager makes no token call before this instant, epoch ms. */
  nextAttemptAt?: number
  /** The code of the last failure. Absent again as soon as a new token comes. */
  lastError?: TokenErrorCode
  /** Calls of the token source (`obtains`, `refreshes`), how many of them failed, and tokens that came from elsewhere (`adoptions`). */
  counts: { obtains: number; refreshes: number; adoptions: number; failures: number; suspicions: number }
}

/** The status of a manager whose source has a `login`. */
export interface LoginStatus extends TokenStatus {
  /**
   * Absent until a store has told. `required`: pass the tokens of a login to `adopt()`. `pending`: `adopt()` was given a promise that has not settled.
   */
  login?: 'present' | 'required' | 'pending'
  /** Why a login is required. */
  loginReason?: LoginReason
}

type Token = Pick<HeldToken, 'remainingMs' | 'refreshRemainingMs' | 'freshness'> &
  Partial<Pick<HeldToken, 'isUnusable' | 'mustRenew'>>

/** What `status()` returns, without the login and the counts. @param now Monotonic ms. @param wallNow Epoch ms. */
export function statusIn(
  activity: Activity,
  token: Token | undefined,
  now: number,
  wallNow: number,
): Omit<TokenStatus, 'counts'> {
  const { renewal, backoff } = activity
  const failure = renewal?.lastError ?? backoff?.error
  const at = (ms: number) => Math.round(wallNow + ms)
  return {
    phase: phaseIn(activity, token, now),
    renewing: renewal !== undefined,
    ...(token && { accessExpiresAt: at(token.remainingMs) }),
    ...(token?.refreshRemainingMs !== undefined && { refreshExpiresAt: at(token.refreshRemainingMs) }),
    ...(backoff && now < backoff.until && backoff.until < Infinity && { nextAttemptAt: at(backoff.until - now) }),
    ...(failure && { lastError: failure.code }),
  }
}

function phaseIn(activity: Activity, token: Token | undefined, now: number): TokenStatus['phase'] {
  const { backoff, isClosed } = activity
  if (isClosed) return 'closed'
  if (token && token.remainingMs > 0) {
    const isRejected = token.isUnusable === true && token.mustRenew !== true && !isReplacing(activity)
    return isRejected ? 'refused' : token.freshness
  }
  if (backoff?.until === Infinity) return 'stopped'
  if (backoff && now < backoff.until) return 'cooling-down'
  return token ? 'expired' : 'empty'
}

/** Why a caller gets no token. If the manager backs off, the error tells the instant of the next attempt. */
export function denialOf(why: 'closed' | Pick<Backoff, 'until' | 'error'>, now: number, wallNow: number): TokenError {
  if (why === 'closed') return new TokenError('ERR_CLOSED', 'The token manager is closed')
  const { until, error } = why
  if (until === Infinity) return error
  // Not in the message, which is the same for each caller: error trackers group by it.
  return errorWith(error, { retryAt: Math.round(wallNow + until - now) })
}

/**
 * What the timer of a token does: it renews a token that is in use, and lets an unused one expire.
 *
 * @returns Ms to wait, 0 or less: renew now; undefined: nothing is to be done.
 */
export function timerMs(
  { renewal, backoff, isClosed }: Activity,
  token: Pick<HeldToken, 'used' | 'freshness' | 'freshMs' | 'remainingMs'>,
  keepWarm: string,
  now: number,
): number | undefined {
  const isKept = keepWarm === 'always' || (token.used && token.remainingMs > 0)
  if (renewal || isClosed || !isKept || backoff?.until === Infinity) return undefined
  // The timer may fire a little early, or during the cool-down after a failed renewal.
  return token.freshness === 'fresh' ? token.freshMs : (backoff?.until ?? now) - now
}
