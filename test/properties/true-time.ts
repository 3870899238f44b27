import type { ManualClock } from '../../tools/testing/manual-clock.ts'

/** The true time: that of the clock, and the time that the machine slept. */
export class TrueTime {
  readonly #clock: ManualClock
  #sleptMs = 0
  /** How far the wall clock was set ahead, in total. */
  steppedMs = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  now = () => this.#clock.monotonicNow() + this.#sleptMs
  monotonicNow = () => this.#clock.monotonicNow()
  wallNow = () => this.#clock.wallNow()

  /** How far the wall clock has gained on the monotonic one, in total. */
  get disturbedMs(): number {
    return this.#sleptMs + this.steppedMs
  }

  /** The wall clock advances, the monotonic one stands still. */
  sleep(ms: number): void {
    this.#sleptMs += ms
    this.#clock.stepWall(ms)
  }

  /** Sets the wall clock by `ms`. */
  step(ms: number): void {
    this.steppedMs += Math.max(0, ms)
    this.#clock.stepWall(ms)
  }
}
