import { errorWith, type LoginReason, TokenError, type TokenErrorCode } from './errors.ts'
import type { HeldToken } from './held-token.ts'
import type { OwnCoolDown } from './situation.ts'
import type { ResourceOptions } from './resource.ts'

/** The state of a renewal in flight. */
export interface Running {
  readonly lastError: TokenError | undefined
  readonly isRepeating?: boolean
}

/** What a manager is doing about its next token. The current token stays in use meanwhile, unless the manager is closed. */
export interface Activity {
  /** The renewal that all callers share. */
  readonly renewal: Running | undefined
  /** The pause that the service asked for, or the cool-down after a failed renewal. */
  readonly backoff: Backoff | undefined
  readonly isClosed: boolean
  readonly current?: HeldToken | undefined
  readonly login?: { awaitsPending(held?: HeldToken): boolean } | undefined
}

/** Why a caller may not start or join a renewal. */
export type Denial = 'closed' | Backoff
/** What a caller without a valid token may do: `start` a renewal, `join` the one in flight, or wait for the pending login. */
export type Admission = 'start' | 'join' | 'await-login' | Denial

export function isDenial(admitted: Admission): admitted is Denial {
  return admitted === 'closed' || typeof admitted === 'object'
}

/** The manager makes no token request before `until`, monotonic ms. */
export interface Backoff extends Pick<OwnCoolDown, 'failures' | 'isFirm' | 'whileUsable'> {
  /** Infinity: until `reset()`, `adopt()`, or a login elsewhere. */
  readonly until: number
  /** From this instant on, the next caller makes the manager check the record: another owner may have ended the backoff. Monotonic ms. */
  readonly asksAt: number
  readonly error: TokenError
}

/** The shortest interval at which a manager that requires a login checks the store for a login of another owner, ms. */
export const ASK_MS = 1_000
/** Another owner may end a backoff: by a login, or by writing back the tokens that a store has lost. */
const ASKS_MS: Partial<Record<TokenErrorCode, number>> = { ERR_LOGIN_REQUIRED: ASK_MS, ERR_STORE_UNAVAILABLE: 2_000 }

/** The backoff after a failed renewal. @param mayAsk Whether the manager has a store. */
export function backoffAfter(
  error: TokenError,
  { ms, failures, isFirm, whileUsable }: Pick<OwnCoolDown, 'ms' | 'failures' | 'isFirm' | 'whileUsable'>,
  now: number,
  mayAsk = false,
): Backoff {
  const until = error.code === 'ERR_LOGIN_REQUIRED' ? Infinity : now + ms
  const asksAt = now + (mayAsk ? Math.min(ms, ASKS_MS[error.code] ?? ms) : ms)
  return { until, asksAt, error, failures, isFirm, whileUsable }
}

/**
 * Whether listeners must be notified of a failed renewal. A manager that waits for a login may check the store each second, but reports this once.
 *
 * @param isFound The store has no login, and the manager knew of none, so this is not a failed renewal (F386).
 */
export function isNewFailure({ until, error }: Backoff, before: Backoff | undefined, isFound: boolean): boolean {
  return !isFound && (until < Infinity || before?.error.code !== error.code)
}

/**
 * Decides whether a caller starts a renewal, joins one, or waits for a pending login. During a backoff, callers neither start nor join a renewal, with the
 * exceptions below.
 *
 * @param limit When the caller's wait ends, monotonic ms. A caller who can wait until the backoff ends joins a renewal in flight.
 * @param breaksBackoff Whether the caller wants a renewal despite a backoff that is not firm.
 */
export function admission(activity: Activity, now: number, limit = now, breaksBackoff = false): Admission {
  const { renewal, isClosed, current, login } = activity
  if (isClosed) return 'closed'
  if (login?.awaitsPending(current)) return 'await-login'
  return blockedBy(activity, now, limit, breaksBackoff) ?? (renewal ? 'join' : 'start')
}

function blockedBy({ renewal, backoff }: Activity, now: number, limit: number, breaks: boolean): Backoff | undefined {
  const endsAt = backoff?.asksAt ?? now
  if (now >= endsAt) return undefined
  const canJoin = renewal !== undefined
  // If the backoff is not firm, all callers join a renewal in flight.
  const isBroken = backoff?.isFirm === false && (canJoin || breaks)
  return isBroken || (canJoin && limit > endsAt) ? undefined : backoff
}

/** Whether a new token is likely soon: a renewal is making its first exchange, and the previous renewal did not fail. */
export function isReplacing({ renewal, backoff }: Activity): boolean {
  return renewal !== undefined && renewal.isRepeating !== true && !backoff
}

/** The state of a token manager. */
export interface TokenStatus {
  /**
   * While a token is valid, its freshness is the phase, even if renewals fail. `refused`: the API rejected the token, and the manager cannot replace
   * it now. A request that succeeds with the token ends this phase.
   */
  phase: 'empty' | 'fresh' | 'due' | 'refused' | 'expired' | 'cooling-down' | 'stopped' | 'closed'
  renewing: boolean
  /** Epoch ms. A lifetime above 24 h counts as 24 h. */
  accessExpiresAt?: number
  /** Epoch ms. */
  refreshExpiresAt?: number
  /** The manager makes no token request before this instant, epoch ms. */
  nextAttemptAt?: number
  /** The code of the last failure. Absent after the next new token. */
  lastError?: TokenErrorCode
  /** What the tokens are for, if they are those of a resource (`forResource`). */
  resource?: ResourceOptions
  /** Calls to the token source (`obtains`, `refreshes`), how many of them failed, tokens from elsewhere (`adoptions`), and suspicious refresh tokens. */
  counts: { obtains: number; refreshes: number; adoptions: number; failures: number; suspicions: number }
}

/** The status of a manager whose source has a `login`. */
export interface LoginStatus extends TokenStatus {
  /**
   * The state of the login. `required`: pass the tokens of a login to `adopt()`. `pending`: the promise passed to `adopt()` has not settled. Absent
   * until a store has been checked.
   */
  login?: 'present' | 'required' | 'pending'
  /** Why a login is required. */
  loginReason?: LoginReason
}

type Token = Pick<HeldToken, 'remainingMs' | 'refreshRemainingMs' | 'freshness'> &
  Partial<Pick<HeldToken, 'isUnusable' | 'mustRenew'>>

/** The result of `status()` without the login and the counts. @param now Monotonic ms. @param wallNow Epoch ms. */
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

/** The error for a caller who gets no token. During a backoff it has the instant of the next attempt (`retryAt`). */
export function denialOf(why: 'closed' | Pick<Backoff, 'until' | 'error'>, now: number, wallNow: number): TokenError {
  if (why === 'closed') return new TokenError('ERR_CLOSED', 'The token manager is closed')
  const { until, error } = why
  if (until === Infinity) return error
  // Not part of the message: error trackers group by message, which must therefore be the same for all callers.
  return errorWith(error, { retryAt: Math.round(wallNow + until - now) })
}

/**
 * When to renew the current token in the background. A token in use is renewed. An unused token expires, unless `keepWarm` is `always`.
 *
 * @returns Ms to wait. 0 or less: renew now. Undefined: do nothing.
 */
export function timerMs(
  { renewal, backoff, isClosed }: Activity,
  token: Pick<HeldToken, 'used' | 'freshness' | 'freshMs' | 'remainingMs'>,
  keepWarm: string,
  now: number,
): number | undefined {
  const isKept = keepWarm === 'always' || (token.used && token.remainingMs > 0)
  if (renewal || isClosed || !isKept || backoff?.until === Infinity) return undefined
  // The timer may fire slightly early, or during the cool-down after a failed renewal.
  return token.freshness === 'fresh' ? token.freshMs : (backoff?.asksAt ?? now) - now
}
