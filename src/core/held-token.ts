import { type Freshness, freshnessOf, type RenewalWindow, renewalWindow, type WindowSettings } from './freshness.ts'
import type { TokenClock } from './token-clock.ts'
import type { StoredTokens } from './token-store.ts'

/** The token that a manager holds, aged by its own clock from the moment it was handed over. */
export class HeldToken {
  readonly stored: StoredTokens
  /** Asked for since it was got. */
  used = false
  readonly #clock: TokenClock
  readonly #heldAt: number
  readonly #window: RenewalWindow

  constructor(stored: StoredTokens, windows: WindowSettings, clock: TokenClock, random: number) {
    this.stored = stored
    this.#clock = clock
    this.#heldAt = clock.now()
    this.#window = renewalWindow(stored.accessLifetimeMs, windows, random)
  }

  /** Until expiry; below zero afterwards. */
  get remainingMs(): number {
    return this.stored.accessRemainingMs - this.#age
  }

  get refreshRemainingMs(): number | undefined {
    const { refreshRemainingMs } = this.stored
    return refreshRemainingMs === undefined ? undefined : refreshRemainingMs - this.#age
  }

  get freshness(): Freshness {
    return freshnessOf(this.remainingMs, this.#window)
  }

  /** Until renewal is due. */
  get freshMs(): number {
    return this.remainingMs - this.#window.skewMs
  }

  /** Until callers wait for a newer one. */
  get servedMs(): number {
    return this.remainingMs - this.#window.hardSkewMs
  }

  /** Until callers make do with a token that they would rather see renewed. */
  get patienceMs(): number {
    return this.remainingMs - this.#window.hardSkewMs / 3
  }

  get #age(): number {
    return this.#clock.now() - this.#heldAt
  }
}

/** The token while it strictly lives: nobody fails for the want of a newer one. */
export function livingIn(held: HeldToken | undefined): string | undefined {
  return held && held.remainingMs > 0 ? held.stored.accessToken : undefined
}
