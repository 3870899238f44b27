import type { Clock } from '../core/clock.ts'

const GAP_MS = 3_000

/**
 * Exchanges that were made without the record, and that the record does not know of. `tell` notes them there: at once, and again until it succeeds,
 * because another owner may present the shared refresh token as soon as the store is back.
 */
export class UnreportedExchanges {
  readonly #report: () => Promise<void>
  readonly #clock: Clock
  #made = 0
  #reported = 0
  #isReporting = false
  #cancelPause: () => void = () => undefined

  constructor(report: () => Promise<void>, clock: Clock) {
    this.#report = report
    this.#clock = clock
  }

  /** How many exchanges were made without the record; 0: the record knows of all of them. */
  get pending(): number {
    return this.#made > this.#reported ? this.#made : 0
  }

  /** The record knows of the first `made` exchanges. */
  confirm(made: number): void {
    this.#reported = Math.max(this.#reported, made)
  }

  /** Counts one exchange that is made without the record, and tells the record of it. */
  add(): void {
    this.#made += 1
    if (!this.#isReporting) void this.#keepReporting()
  }

  /** Stops telling the record. */
  close(): void {
    this.#reported = Infinity
    this.#cancelPause()
  }

  async #keepReporting(): Promise<void> {
    const pause = () => new Promise<void>((resolve) => (this.#cancelPause = this.#clock.setTimer(resolve, GAP_MS)))
    this.#isReporting = true
    for (let made = this.pending; made > 0; made = this.pending)
      await this.#report().then(() => this.confirm(made), pause)
    this.#isReporting = false
  }
}
