import { accessTo, type TokenAccess } from '../client/token-access.ts'
import type { Clock } from '../core/clock.ts'
import { randomHex } from '../core/digest.ts'
import type { TokenManager } from '../core/token-manager.ts'
import type { OpenableStore, StoreReports, TokenRecord, TokenStore } from '../core/token-store.ts'

/** How often requests that wait for a login ask whether somebody has logged in elsewhere, ms. */
const LOOK_MS = 1_000

/** The record of the login reports the same. */
const UNHEARD: StoreReports = { anomaly: () => undefined, storeUnavailable: () => undefined }

/**
 * Lets one request at a time meet the 401 that opens the page of a login. The others wait for that login. Who opens the page of all processes decides a
 * claim in a record of its own, which never holds a token: it ends with the login, or by its time if its process has died.
 */
export class OnePage {
  readonly #tokens: TokenManager
  readonly #look: TokenAccess['lookForLogin']
  readonly #clock: Clock
  /** Undefined: no other process has the login. */
  readonly #record: TokenRecord | undefined
  readonly #owner = randomHex()
  /** Until when a login counts as under way, monotonic ms. */
  #until = -Infinity

  /** @param id Names the login in the store. */
  constructor(tokens: TokenManager, store: TokenStore | undefined, id: string) {
    const { clock, lookForLogin } = accessTo(tokens)
    this.#tokens = tokens
    this.#look = lookForLogin
    this.#clock = clock
    const isShared = store !== undefined && store.kind !== 'memory'
    this.#record = isShared ? (store as OpenableStore).open(`${id} page`, clock, UNHEARD) : undefined
    tokens.on('loginChanged', ({ login }) => {
      if (login === 'present') this.#until = -Infinity
    })
  }

  /** Whether the request may meet its 401. Then a login is under way for `ms`. */
  async opens(ms: number): Promise<boolean> {
    const now = this.#clock.monotonicNow()
    if (now < this.#until) return false
    this.#until = now + ms
    if (!this.#record) return true
    // Without the store nobody can know of the others.
    const claimed = await this.#record.claim(this.#owner, 0, ms).catch(() => undefined)
    if (claimed?.kind === 'busy') {
      this.#until = Math.min(this.#until, now + claimed.remainingMs)
      return false
    }
    // Somebody may have logged in after this request was sent: then the claim was free again.
    await this.#look?.()
    if (!this.#isLoggedIn) return true
    await this.end()
    return false
  }

  get #isLoggedIn(): boolean {
    return this.#tokens.status().login === 'present'
  }

  /** Somebody has logged in, and the store knows. */
  async end(): Promise<void> {
    this.#until = -Infinity
    // If the store does not answer, the claim ends by its time.
    await this.#record?.clear(0).catch(() => undefined)
  }

  /** Waits until somebody may have logged in, here or elsewhere, for `ms` at most. */
  async news(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#isLoggedIn) return
    let end = (): void => undefined
    const news = new Promise<void>((resolve) => (end = resolve))
    const stop = this.#tokens.on('loginChanged', end)
    const cancel = this.#clock.setTimer(end, Math.min(LOOK_MS, ms), true)
    signal?.addEventListener('abort', end)
    await news
    signal?.removeEventListener('abort', end)
    cancel()
    stop()
  }

  close(): void {
    this.#record?.close?.()
  }
}
