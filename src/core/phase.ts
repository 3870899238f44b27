import { type LoginReason, toldAgain, TokenError, type TokenErrorCode } from './errors.ts'
import type { HeldToken } from './held-token.ts'
import type { Renewal } from './renewal.ts'
import type { CoolDown } from './token-store.ts'

/** What the manager does about the next token. The current token is no part of it: it serves in every phase but `closed`. */
export type Phase =
  | { readonly is: 'idle' }
  /** `rest`: the pause that the service asked for, or the rest after the last renewal, which failed. */
  | { readonly is: 'renewing'; readonly renewal: Renewal; readonly rest: Rest | undefined }
  | { readonly is: 'resting'; readonly rest: Rest }
  | { readonly is: 'closed' }

/** The manager makes no token call before `until`, monotonic ms. Infinity: until `reset()` or `adopt()`. */
export interface Rest extends Pick<CoolDown, 'failures' | 'isFirm' | 'whileServed'> {
  readonly until: number
  readonly error: TokenError
}

export type PhaseEvent =
  | { readonly type: 'started'; readonly renewal: Renewal }
  /** The manager uses new tokens: of its renewal, or of a login elsewhere that it found in the record. */
  | { readonly type: 'held' }
  /** The service asked for a pause. */
  | ({ readonly type: 'paused'; readonly renewal: Renewal } & Pick<Rest, 'until' | 'error'>)
  /** The callers who wanted it have left. */
  | { readonly type: 'left'; readonly renewal: Renewal }
  | { readonly type: 'gave-up'; readonly renewal: Renewal; readonly rest: Rest }
  | { readonly type: 'reset' }
  | { readonly type: 'closed' }

export const IDLE: Phase = /* @__PURE__ */ Object.freeze({ is: 'idle' })

/** @returns The same phase if the event changes nothing. The events of an outdated renewal change nothing. */
export function phaseAfter(phase: Phase, event: PhaseEvent): Phase {
  if (phase.is === 'closed') return phase
  if (event.type === 'closed') return { is: 'closed' }
  if (event.type === 'reset' || event.type === 'held') return IDLE
  const { renewal } = event
  // Callers share one renewal.
  if (event.type === 'started')
    return phase.is === 'renewing' ? phase : { is: 'renewing', renewal, rest: restIn(phase) }
  if (renewalIn(phase) !== renewal) return phase
  if (event.type === 'gave-up') return { is: 'resting', rest: event.rest }
  if (event.type === 'left') return left(restIn(phase))
  const { until, error } = event
  return { is: 'renewing', renewal, rest: { until, error, failures: failuresIn(phase), isFirm: true } }
}

function left(rest: Rest | undefined): Phase {
  return rest ? { is: 'resting', rest } : IDLE
}

export function renewalIn(phase: Phase): Renewal | undefined {
  return phase.is === 'renewing' ? phase.renewal : undefined
}

export function restIn(phase: Phase): Rest | undefined {
  return phase.is === 'renewing' || phase.is === 'resting' ? phase.rest : undefined
}

/** Renewals in a row that gave up. */
export function failuresIn(phase: Phase): number {
  return restIn(phase)?.failures ?? 0
}

/**
 * What a caller who needs a token call may do: `start` a renewal, or `join` the one in flight. A rest forbids both.
 *
 * @param limit Until when the caller can wait, monotonic ms. A caller who can wait longer than a renewal pauses joins it.
 * @param breaksRest Whether the caller wants a renewal in spite of a rest that is not firm.
 */
export function admission(
  phase: Phase,
  now: number,
  limit = now,
  breaksRest = false,
): 'start' | 'join' | 'closed' | Rest {
  if (phase.is === 'closed') return 'closed'
  const rest = restIn(phase)
  const canJoin = phase.is === 'renewing'
  // If a renewal runs in spite of the rest, all callers join it.
  const isBroken = rest?.isFirm === false && (canJoin || breaksRest)
  if (rest && now < rest.until && !isBroken && !(canJoin && limit > rest.until)) return rest
  return canJoin ? 'join' : 'start'
}

/** A manager that waits for a login asks the store at most this often whether another owner has logged in, ms. */
const LOOK_MS = 1_000

/** The rest after a renewal that gave up. */
export function restAfter(error: TokenError, { ms, failures, isFirm, whileServed }: CoolDown, now: number): Rest {
  return { until: now + (error.code === 'ERR_LOGIN_REQUIRED' ? LOOK_MS : ms), error, failures, isFirm, whileServed }
}

/** Whether only `reset()`, `adopt()` or a login elsewhere can end the rest. */
function isStop({ until, error }: Pick<Rest, 'until' | 'error'>): boolean {
  return until === Infinity || error.code === 'ERR_LOGIN_REQUIRED'
}

export interface TokenStatus {
  /** While a token lives, its freshness is the phase, even if renewals fail. */
  phase: 'empty' | 'fresh' | 'due' | 'expired' | 'cooling-down' | 'stopped' | 'closed'
  renewing: boolean
  /** Epoch ms; a lifetime above 24 h counts as 24 h. */
  accessExpiresAt?: number
  /** Epoch ms. */
  refreshExpiresAt?: number
  /** The manager makes no token call before this instant, epoch ms. */
  nextAttemptAt?: number
  /** The code of the last failure. Absent again as soon as a new token comes. */
  lastError?: TokenErrorCode
  /**
   * Only with a source that `needsLogin`; absent until a store has told. `required`: pass the tokens of a login to `adopt()`. `pending`: `adopt()` was
   * given a promise that has not settled.
   */
  login?: 'present' | 'required' | 'pending'
  /** Why a login is required. */
  loginReason?: LoginReason
  /** Calls of the token source (`obtains`, `refreshes`), how many of them failed, and tokens that came from elsewhere (`adoptions`). */
  counts: { obtains: number; refreshes: number; adoptions: number; failures: number; suspicions: number }
}

type Token = Pick<HeldToken, 'remainingMs' | 'refreshRemainingMs' | 'freshness'>

/** What `status()` returns, without the counts. @param now Monotonic ms. @param wallNow Epoch ms. */
export function statusIn(
  phase: Phase,
  token: Token | undefined,
  now: number,
  wallNow: number,
): Omit<TokenStatus, 'counts'> {
  const rest = restIn(phase)
  const failure = renewalIn(phase)?.lastError ?? rest?.error
  const at = (ms: number) => Math.round(wallNow + ms)
  return {
    phase: shownPhase(phase, token, now),
    renewing: phase.is === 'renewing',
    ...(token && { accessExpiresAt: at(token.remainingMs) }),
    ...(token?.refreshRemainingMs !== undefined && { refreshExpiresAt: at(token.refreshRemainingMs) }),
    ...(rest && now < rest.until && !isStop(rest) && { nextAttemptAt: at(rest.until - now) }),
    ...(failure && { lastError: failure.code }),
  }
}

/** What `status()` says of the login. @param known As the listeners were told. */
export function loginIn(
  known: Pick<TokenStatus, 'login' | 'loginReason'>,
  rest: Rest | undefined,
  held: Pick<HeldToken, 'living' | 'stored' | 'isRefused'> | undefined,
  canObtain = false,
): Pick<TokenStatus, 'login' | 'loginReason'> {
  if (known.login === undefined || known.login === 'pending' || held?.living !== undefined) return known
  if (rest?.error.code === 'ERR_LOGIN_REQUIRED')
    return { login: 'required', loginReason: rest.error.loginReason ?? 'refused' }
  // Nothing can renew the token. The listeners are told when the next caller asks.
  if (!canObtain && known.login === 'present' && held && held.stored.refreshToken === undefined)
    return { login: 'required', loginReason: held.isRefused ? 'refused' : 'expired' }
  return known
}

function shownPhase(phase: Phase, token: Token | undefined, now: number): TokenStatus['phase'] {
  if (phase.is === 'closed') return 'closed'
  if (token && token.remainingMs > 0) return token.freshness
  const rest = restIn(phase)
  if (rest && isStop(rest)) return 'stopped'
  if (rest && now < rest.until) return 'cooling-down'
  return token ? 'expired' : 'empty'
}

/** Why a caller gets no token. If the manager rests, the error tells the instant of the next attempt. */
export function refusalIn(refusal: 'closed' | Pick<Rest, 'until' | 'error'>, now: number, wallNow: number): TokenError {
  if (refusal === 'closed') return new TokenError('ERR_CLOSED', 'The token manager is closed')
  const { until, error } = refusal
  if (isStop(refusal)) return error
  // Not in the message, which is the same for each caller: error trackers group by it.
  return toldAgain(error, { retryAt: Math.round(wallNow + until - now) })
}

/**
 * What the timer of a token does: it renews a token that is in use, and lets an unused one expire.
 *
 * @returns Ms to wait, 0 or less: renew now; undefined: nothing is to be done.
 */
export function timerMs(
  phase: Phase,
  token: Pick<HeldToken, 'used' | 'freshness' | 'freshMs' | 'remainingMs'>,
  keepWarm: string,
  now: number,
): number | undefined {
  const isKept = keepWarm === 'always' || (token.used && token.remainingMs > 0)
  const rest = restIn(phase)
  if (phase.is === 'renewing' || phase.is === 'closed' || !isKept || (rest && isStop(rest))) return undefined
  // The timer may fire a little early, or during the rest after a failed renewal.
  return token.freshness === 'fresh' ? token.freshMs : (rest?.until ?? now) - now
}
