import type { ManualClock } from '../../src/testing/manual-clock.ts'

/** Time as the world has it: that of the clock, and the stretches that the machine slept through. */
export class TrueTime {
  readonly #clock: ManualClock
  #sleptMs = 0
  /** By how much the wall clock was set ahead, in all. */
  steppedMs = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
  }

  now = () => this.#clock.monotonicNow() + this.#sleptMs
  monotonicNow = () => this.#clock.monotonicNow()
  wallNow = () => this.#clock.wallNow()

  /** By how much the wall clock is ahead of the monotonic one, in all. */
  get disturbedMs(): number {
    return this.#sleptMs + this.steppedMs
  }

  /** The wall clock goes on, the monotonic one stands still. */
  sleep(ms: number): void {
    this.#sleptMs += ms
    this.#clock.stepWall(ms)
  }

  /** Somebody sets the wall clock. */
  step(ms: number): void {
    this.steppedMs += Math.max(0, ms)
    this.#clock.stepWall(ms)
  }
}
