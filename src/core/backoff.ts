import { detailsOf, type LoginReason, outcomeOf, TokenError, type TokenErrorCode } from './errors.ts'
import type { RetryPolicy } from './manager-options.ts'
import type { OwnCoolDown, Situation } from './situation.ts'
import type { CoolDown, GrantedClaim, Retry } from './token-store.ts'

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
  situation: Pick<Situation, 'failures' | 'sinceClaimMs' | 'servedMs'> & Partial<Pick<Situation, 'chance'>>,
  retryAfterMs: number,
): number {
  const { failures, sinceClaimMs, servedMs, chance } = situation
  if (error.code === 'ERR_LOGIN_REQUIRED') return Infinity
  if (error.code === 'ERR_STORE_UNAVAILABLE') return shortBackoffMs(chance)
  // A wrong password costs one call a minute, not one per request: services lock accounts after many failures.
  if (error.code === 'ERR_CREDENTIALS_REJECTED') return Math.max(MINUTE_MS, retryAfterMs)
  const steppedMs = Math.max(5_000, Math.min(5_000 * 2 ** (failures - 1), 20_000) - sinceClaimMs)
  // One more probe before callers have to wait: if the outage is over by then, no caller notices it.
  const backoffMs = servedMs > 2_000 ? Math.min(steppedMs, servedMs - 1_000) : steppedMs
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

/** The error for callers while the record cools down. The failure may be one of another owner (F224). */
export function coolingError(coolDown: CoolDown): TokenError {
  const { code, loginReason = 'refused' } = coolDown
  const message =
    code === 'ERR_LOGIN_REQUIRED'
      ? loginMessage(loginReason)
      : code === 'ERR_STORE_UNAVAILABLE'
        ? LOST_WRITES
        : metByOther(coolDown)
  return new TokenError(code, message, coolDown)
}

const LOST_WRITES =
  'The shared token store has lost writes (a failover, or a restored copy): its refresh token may be spent. The manager waits until the other processes ' +
  'had time to write back what they have'

function metByOther({ code, status }: CoolDown): string {
  const answered = status === undefined ? '' : ` (the service answered ${status})`
  return `Another owner of this account failed to renew: ${MET[code]}${answered}`
}

/** What another owner met, and what to do about it. */
const MET: Readonly<Record<TokenErrorCode, string>> = {
  ERR_CREDENTIALS_REJECTED: 'the service refused the credentials; check them',
  ERR_REFRESH_REJECTED: 'the service refused the refresh token',
  ERR_SUSPICIOUS_REFRESH_TOKEN: 'a refresh token was refused before its time; all owners stop until reset() or adopt()',
  ERR_THROTTLED: 'the service throttles token calls',
  ERR_TOKEN_SERVICE_UNAVAILABLE: 'the token service could not be reached, or failed',
  ERR_TOKEN_REQUEST: 'the service did not take the token call; check its address and parameters',
  ERR_TOKEN_RESPONSE: 'the answer of the token service could not be used',
  ERR_SIGNATURE: 'the signature of the answer was missing or wrong; check the password',
  ERR_WAIT_TIMEOUT: 'no answer came in time',
  ERR_REPLACED_TOO_SOON: 'the API refuses access tokens too fast',
  ERR_STORE_UNAVAILABLE: 'its token store could not be reached',
  ERR_CLOSED: 'its manager was closed',
  ERR_LOGIN_REQUIRED: 'a login is required; call adopt() with its tokens',
  ERR_TOKEN_SOURCE: 'its token source is broken; see the error of that process',
}

/** @param failure The answer of the service, if that ended the login. */
export function loginRequired(
  reason: LoginReason,
  { status, serviceCode }: Partial<TokenError> = {},
  why?: string,
): TokenError {
  return new TokenError('ERR_LOGIN_REQUIRED', loginMessage(reason, why), { loginReason: reason, status, serviceCode })
}

/** Without its store a process cannot see whether somebody has logged in elsewhere: the store is missing, not the login. */
export function errorIfPrivate({ isPrivate }: GrantedClaim, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

function loginMessage(reason: LoginReason, why = WHY[reason]): string {
  return `A login is required (${reason}: ${why}): call adopt() with its tokens`
}

const WHY: Readonly<Record<LoginReason, string>> = {
  'none-yet': 'nobody has logged in',
  'logged-out': 'the person has logged out',
  refused: 'the service refused the refresh token, or the access token',
  expired: 'the login has expired',
  'in-doubt': 'the service refused a refresh token after a token call whose answer was lost',
  interaction: 'the service asks for the person',
  lost: 'the token store has lost the login',
}
