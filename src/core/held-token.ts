import { type Freshness, freshnessOf, type RenewalWindow, renewalWindow, type WindowSettings } from './freshness.ts'
import type { TokenClock } from './token-clock.ts'
import { areSame, type NewTokens, type StoredTokens } from './stored-tokens.ts'

interface HoldSettings {
  readonly tokenClock: TokenClock
  readonly renewal: WindowSettings
}

const REJECTIONS_AFTER_SUCCESS = 3

/** The current tokens of a manager. They age by its token clock, from the moment it received them. */
export class HeldToken {
  /** Not read-only, because an exchange for a resource of the login replaces the refresh token. */
  stored: StoredTokens
  /** Whether a caller has requested the token since it arrived. */
  used = false
  /** Whether the API has rejected the token. */
  isRejected = false
  /** Rejections by the API since a request with the token last succeeded. */
  #rejections = 0
  /** How many rejections make the token unusable. More than one if a request succeeded after a rejection: perhaps a single endpoint rejects every token. */
  #threshold = 1
  /** Whether the next caller must replace the token and wait for the new one. */
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
    const { accessRemainingMs, dueRemainingMs = Infinity } = stored
    this.#freshUntil = this.#heldAt + Math.min(accessRemainingMs - this.#window.skewMs, dueRemainingMs)
  }

  rejected(): void {
    this.isRejected = true
    this.#rejections += 1
  }

  /** A request with the token has succeeded. */
  succeeded(): void {
    if (this.#rejections > 0) this.#threshold = REJECTIONS_AFTER_SUCCESS
    this.#rejections = 0
  }

  /** Whether the API seems to reject every request with the token. */
  get isUnusable(): boolean {
    return this.#rejections >= this.#threshold
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
    // The fast path of nearly all requests.
    if (now < this.#freshUntil) return 'fresh'
    const freshness = freshnessOf(this.stored.accessRemainingMs - (now - this.#heldAt), this.#window)
    return freshness === 'expired' ? freshness : 'due'
  }

  /** Ms until renewal is due. */
  get freshMs(): number {
    return this.#freshUntil - this.#clock.now()
  }

  /** Ms until callers must wait for a newer token. */
  get usableMs(): number {
    return this.remainingMs - this.#window.hardSkewMs
  }

  /** Ms until callers stop waiting for a newer token and use this one. */
  get patienceMs(): number {
    return this.remainingMs - this.#window.hardSkewMs / 3
  }

  /** The access token until it expires. A caller uses it if no newer token arrives in time. */
  get validToken(): string | undefined {
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
