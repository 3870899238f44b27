import type { Clock } from '../core/clock.ts'

const GAP_MS = 3_000

/**
 * Tracks exchanges that were made without the record, and reports them to it: at once, and again until that succeeds, because another owner may present the
 * shared refresh token as soon as the store is available again.
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

  /** How many exchanges were made without the record; 0: all of them are reported. */
  get pending(): number {
    return this.#made > this.#reported ? this.#made : 0
  }

  /** The record has the first `made` exchanges. */
  confirm(made: number): void {
    this.#reported = Math.max(this.#reported, made)
  }

  /** Counts one exchange without the record, and reports it. */
  add(): void {
    this.#made += 1
    if (!this.#isReporting) void this.#keepReporting()
  }

  /** Stops reporting. */
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
