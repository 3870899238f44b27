import { type Freshness, freshnessOf, type RenewalWindow, renewalWindow, type WindowSettings } from './freshness.ts'
import type { TokenClock } from './token-clock.ts'
import { areSame, type NewTokens, type StoredTokens } from './token-store.ts'

interface HoldSettings {
  readonly tokenClock: TokenClock
  readonly renewal: WindowSettings
}

/** The tokens that a manager holds. They age by the manager's token clock from the moment it received them. */
export class HeldToken {
  readonly stored: StoredTokens
  /** Whether a caller has asked for the token since it arrived. */
  used = false
  /** The API has refused the token. */
  isRefused = false
  /** The next caller replaces the token, and waits for the new one. */
  mustRenew = false
  readonly #clock: TokenClock
  readonly #heldAt: number
  readonly #window: RenewalWindow
  /** The instant when renewal is due, by the token clock. */
  readonly #freshUntil: number

  constructor(stored: StoredTokens, { tokenClock, renewal }: HoldSettings, random: number) {
    this.stored = stored
    this.#clock = tokenClock
    this.#heldAt = tokenClock.now()
    this.#window = renewalWindow(stored.accessLifetimeMs, renewal, random)
    this.#freshUntil = this.#heldAt + stored.accessRemainingMs - this.#window.skewMs
  }

  /** Ms until expiry; negative afterwards. */
  get remainingMs(): number {
    return this.stored.accessRemainingMs - this.#age
  }

  get refreshRemainingMs(): number | undefined {
    const { refreshRemainingMs } = this.stored
    return refreshRemainingMs === undefined ? undefined : refreshRemainingMs - this.#age
  }

  get freshness(): Freshness {
    const now = this.#clock.now()
    // Nearly all requests end here.
    if (now < this.#freshUntil) return 'fresh'
    return freshnessOf(this.stored.accessRemainingMs - (now - this.#heldAt), this.#window)
  }

  /** Ms until renewal is due. */
  get freshMs(): number {
    return this.remainingMs - this.#window.skewMs
  }

  /** Ms until callers must wait for a newer token. */
  get servedMs(): number {
    return this.remainingMs - this.#window.hardSkewMs
  }

  /** Ms until callers stop waiting for a newer token and take this one. */
  get patienceMs(): number {
    return this.remainingMs - this.#window.hardSkewMs / 3
  }

  /** The token until it expires. A caller takes it if no newer token comes in time. */
  get living(): string | undefined {
    return this.remainingMs > 0 ? this.stored.accessToken : undefined
  }

  /** Whether these are the same tokens. */
  isOf(tokens: NewTokens): boolean {
    return areSame(this.stored, tokens)
  }

  get #age(): number {
    return this.#clock.now() - this.#heldAt
  }
}
