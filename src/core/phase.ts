import type { TokenError } from './errors.ts';
import { toldAgain } from './errors.ts'
import type { Freshness } from './freshness.ts'
import type { Renewal } from './renewal.ts'

/** What the manager does about the next token. The token that it holds stands beside the phase, because it serves in all of them. */
export type Phase =
  | { readonly is: 'idle' }
  /** With a rest: the pause that the service asked for, or why the last renewal failed. */
  | { readonly is: 'renewing'; readonly renewal: Renewal; readonly rest: Rest | undefined }
  | { readonly is: 'resting'; readonly rest: Rest }
  | { readonly is: 'closed' }

/** No token call before `until`, monotonic ms. Infinity: until `reset()`. */
export interface Rest {
  readonly until: number
  readonly error: TokenError
  /** Renewals in a row that gave up. */
  readonly failures: number
}

export type PhaseEvent =
  | { readonly type: 'started'; readonly renewal: Renewal }
  | { readonly type: 'renewed'; readonly renewal: Renewal }
  /** The service asked for a pause; or the renewal failed. */
  | { readonly type: 'held' | 'gave-up'; readonly renewal: Renewal; readonly rest: Rest }
  | { readonly type: 'reset' | 'closed' }

export const IDLE: Phase = Object.freeze({ is: 'idle' })

/** @returns The same phase where the event changes nothing. A renewal that is not that of the phase is outdated: it is not heard. */
export function phaseAfter(phase: Phase, event: PhaseEvent): Phase {
  if (phase.is === 'closed') return phase
  switch (event.type) {
    case 'closed':
      return { is: 'closed' }
    case 'reset':
      return IDLE
    case 'started':
      // Callers share one renewal.
      return phase.is === 'renewing' ? phase : { is: 'renewing', renewal: event.renewal, rest: restIn(phase) }
    default:
      return phase.is === 'renewing' && phase.renewal === event.renewal ? afterRenewing(event) : phase
  }
}

function afterRenewing(event: Extract<PhaseEvent, { type: 'renewed' | 'held' | 'gave-up' }>): Phase {
  if (event.type === 'renewed') return IDLE
  const { rest, renewal } = event
  return event.type === 'held' ? { is: 'renewing', renewal, rest } : { is: 'resting', rest }
}

export function restIn(phase: Phase): Rest | undefined {
  return 'rest' in phase ? phase.rest : undefined
}

/**
 * What somebody who needs a token call is told: `start` a renewal, `join` the one in flight, or the rest that forbids both.
 *
 * @param limit Until when the caller can wait, monotonic ms: a caller who can outwait a renewal's pause joins.
 */
export function admission(phase: Phase, now: number, limit = now): 'start' | 'join' | 'closed' | Rest {
  if (phase.is === 'closed') return 'closed'
  const rest = restIn(phase)
  const canJoin = phase.is === 'renewing'
  if (rest && now < rest.until && !(canJoin && limit > rest.until)) return rest
  return canJoin ? 'join' : 'start'
}

/** What `status()` calls the phase. While a token lives its freshness is the phase, whatever else is wrong. */
export function shownPhase(
  phase: Phase,
  token: { readonly remainingMs: number; readonly freshness: Freshness } | undefined,
  now: number,
): Freshness | 'empty' | 'cooling-down' | 'stopped' | 'closed' {
  if (phase.is === 'closed') return 'closed'
  if (token && token.remainingMs > 0) return token.freshness
  const until = restIn(phase)?.until ?? now
  if (now < until) return until === Infinity ? 'stopped' : 'cooling-down'
  return token ? 'expired' : 'empty'
}

/** Why a caller gets no token in a rest, with the instant of the next attempt. @param now Monotonic ms. @param wallNow Epoch ms. */
export function refusalIn({ until, error }: Pick<Rest, 'until' | 'error'>, now: number, wallNow: number): TokenError {
  const pauseMs = until - now
  if (pauseMs === Infinity) return error
  const retryAt = Math.round(wallNow + pauseMs)
  return toldAgain(error, { message: `${error.message}; next attempt in ${(pauseMs / 1_000).toFixed(1)} s`, retryAt })
}
