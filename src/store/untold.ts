import type { Clock } from '../core/clock.ts'

const GAP_MS = 3_000

/**
 * Exchanges that were made without the record, and that the record does not know of. `tell` notes them there: at once, and again until it succeeds,
 * because another owner may present the shared refresh token as soon as the store is back.
 */
export class Untold {
  readonly #tell: () => Promise<void>
  readonly #clock: Clock
  #made = 0
  #told = 0
  #isTelling = false
  #cancelPause: () => void = () => undefined

  constructor(tell: () => Promise<void>, clock: Clock) {
    this.#tell = tell
    this.#clock = clock
  }

  /** How many exchanges were made without the record; 0: the record knows of all of them. */
  get owed(): number {
    return this.#made > this.#told ? this.#made : 0
  }

  /** The record knows of the first `made` exchanges. */
  know(made: number): void {
    this.#told = Math.max(this.#told, made)
  }

  /** Counts one exchange that is made without the record, and tells the record of it. */
  owe(): void {
    this.#made += 1
    if (!this.#isTelling) void this.#keepTelling()
  }

  /** Stops telling the record. */
  close(): void {
    this.#told = Infinity
    this.#cancelPause()
  }

  async #keepTelling(): Promise<void> {
    const pause = () => new Promise<void>((resolve) => (this.#cancelPause = this.#clock.setTimer(resolve, GAP_MS)))
    this.#isTelling = true
    for (let made = this.owed; made > 0; made = this.owed) await this.#tell().then(() => this.know(made), pause)
    this.#isTelling = false
  }
}
