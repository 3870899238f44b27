import type { Clock } from '../core/clock.ts'

const FIRST_GAP_MS = 1_000
const LONGEST_GAP_MS = 5_000

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

  get isOwed(): boolean {
    return this.#made > this.#told
  }

  /** How many exchanges were made without the record. */
  get made(): number {
    return this.#made
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
    this.#isTelling = true
    for (let gapMs = FIRST_GAP_MS; this.isOwed; gapMs = Math.min(2 * gapMs, LONGEST_GAP_MS)) {
      const made = this.#made
      const isTold = await this.#tell().then(
        () => true,
        () => false,
      )
      if (isTold) this.know(made)
      else await this.#pause(gapMs)
    }
    this.#isTelling = false
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => (this.#cancelPause = this.#clock.setTimer(resolve, ms)))
  }
}
