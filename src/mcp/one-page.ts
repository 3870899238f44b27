import type { Clock } from '../core/clock.ts'
import type { TokenManager } from '../core/token-manager.ts'

/** How often requests that wait for a login ask whether somebody has logged in elsewhere, ms. */
const LOOK_MS = 1_000

/** Lets one request at a time meet the 401 that opens the page of a login. The others wait for that login. */
export class OnePage {
  readonly #tokens: TokenManager
  readonly #clock: Clock
  /** Until when a login counts as under way, monotonic ms. */
  #until = -Infinity

  constructor(tokens: TokenManager, clock: Clock) {
    this.#tokens = tokens
    this.#clock = clock
    tokens.on('loginChanged', ({ login }) => {
      if (login === 'present') this.#until = -Infinity
    })
  }

  /** Whether the request may meet its 401. Then a login is under way for `ms`. */
  opens(ms: number): boolean {
    const now = this.#clock.monotonicNow()
    if (now < this.#until) return false
    this.#until = now + ms
    return true
  }

  /** Waits until somebody may have logged in, here or elsewhere, for `ms` at most. */
  async news(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
}
