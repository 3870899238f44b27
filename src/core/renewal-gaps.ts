import { TokenError } from './errors.ts'
import type { RenewalCause } from './events.ts'

/** The least time between two renewals that nobody forced, even if tokens live for a shorter time. */
const LEAST_GAP_MS = 1_000
const LEAST_FORCED_GAP_MS = 2_000
const TOO_SOON = 'The API refuses access tokens faster than the manager may replace them'

/** Keeps renewals apart, so that a service whose tokens are refused or expired is not called all the time. Instants are monotonic ms. */
export class RenewalGaps {
  #renewedAt = -Infinity
  #forcedAt = -Infinity

  /** @returns When a renewal may begin. */
  startAt(because: RenewalCause, now: number): number {
    const isOwn = because === 'due' || because === 'expired'
    return isOwn ? Math.max(now, this.#renewedAt + LEAST_GAP_MS) : now
  }

  /** @param startedAt When the renewal began that brought a token. */
  renewed(startedAt: number): void {
    this.#renewedAt = startedAt
  }

  /** A renewal failed. Its cool-down keeps the next one apart: after an outage, an hour's token would otherwise be refused for six minutes. */
  failed(): void {
    this.#forcedAt = -Infinity
  }

  /** Begins a renewal that the API forces by a refusal. @returns undefined if it may begin; else from when it may, and the error. */
  beginForced(lifetimeMs: number, now: number): { until: number; error: TokenError } | undefined {
    const until = this.#forcedAt + Math.max(LEAST_FORCED_GAP_MS, lifetimeMs / 10)
    if (now < until) return { until, error: new TokenError('ERR_REPLACED_TOO_SOON', TOO_SOON) }
    this.#forcedAt = now
    return undefined
  }
}
