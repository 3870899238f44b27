import type { Clock } from '../core/clock.ts'

/**
 * Decides when an owner of a large fleet may make a token request without the store. Otherwise thousands of processes would send theirs within two seconds,
 * and the service would throttle them all (F358).
 */
export class Turns {
  readonly #clock: Clock
  /** The duration of one round, in which each owner has one turn, ms. 0: there are no turns. */
  #roundMs = 0
  /** When this owner has its turn, monotonic ms. Undefined: it has not asked. */
  #at: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The store has responded. */
  end(roundMs: number): void {
    this.#roundMs = roundMs
    this.#at = undefined
  }

  hasCome(owner: string): boolean {
    const now = this.#clock.monotonicNow()
    this.#at ??= now + placeOf(owner) * this.#roundMs
    return this.#at <= now
  }

  /** The token request has failed: the next turn comes one round later. */
  failed(): void {
    if (this.#roundMs > 0) this.#at = this.#clock.monotonicNow() + this.#roundMs
  }
}

/** @returns The position of an owner among all, in [0, 1). Names of owners end with random hex digits. */
function placeOf(owner: string): number {
  return (parseInt(owner.slice(-4), 16) || 0) / 0x10000
}
