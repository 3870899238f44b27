import { TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'

/** Between two renewals that nobody forced, however short a token lives. */
const LEAST_GAP_MS = 1_000
const LEAST_FORCED_GAP_MS = 2_000
const TOO_SOON = 'The API refuses access tokens faster than the manager may replace them'

/** Keeps renewals apart: a service that issues tokens which are refused, or have ended, must not be called all the time. Instants are monotonic. */
export class RenewalGaps {
  #renewedAt = -Infinity
  #forcedAt = -Infinity

  /** @returns When a renewal may begin. */
  startAt(because: RenewalCause, now: number): number {
    const isOwn = because === 'due' || because === 'expired'
    return isOwn ? Math.max(now, this.#renewedAt + LEAST_GAP_MS) : now
  }

  /** @param startedAt Of a renewal that brought a token. */
  renewed(startedAt: number): void {
    this.#renewedAt = startedAt
  }

  /** Takes the turn of the next renewal that a refusal by the API may force. @returns until when that turn has not come, and why; else it is taken. */
  takeForcedTurn(lifetimeMs: number, now: number): { until: number; error: TokenError } | undefined {
    const until = this.#forcedAt + Math.max(LEAST_FORCED_GAP_MS, lifetimeMs / 10)
    if (now < until) return { until, error: new TokenError('ERR_REPLACED_TOO_SOON', TOO_SOON) }
    this.#forcedAt = now
    return undefined
  }

  forget(): void {
    this.#renewedAt = this.#forcedAt = -Infinity
  }
}
