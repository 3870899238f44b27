import type { Clock } from './clock.ts'

export const JUMP_MS = 2_000

/** Whether the wall clock has run ahead of the monotonic clock, or behind it, by more than drift and corrections explain. */
export function hasJumped(aheadMs: number): boolean {
  return Math.abs(aheadMs) > JUMP_MS
}

/**
 * Time as a token feels it: monotonic, plus every stretch by which the wall clock ran ahead of it. The monotonic clock
 * stands still while a machine sleeps, and a token does not; a wall clock set back, on the other hand, makes no token
 * younger. A wall clock set forward by mistake costs one renewal.
 */
export class TokenClock {
  readonly #clock: Clock
  readonly #onJump: (byMs: number) => void
  /** Wall time minus monotonic time when the two were last in step. */
  #lead: number
  #sleptMs = 0

  constructor(clock: Clock, onJump: (byMs: number) => void = () => undefined) {
    this.#clock = clock
    this.#onJump = onJump
    this.#lead = clock.wallNow() - clock.monotonicNow()
  }

  /** Ms from any origin; never goes back. */
  now(): number {
    const monotonicNow = this.#clock.monotonicNow()
    const aheadMs = this.#clock.wallNow() - monotonicNow - this.#lead
    const isJump = hasJumped(aheadMs)
    if (isJump && aheadMs > 0) this.#sleptMs += aheadMs
    if (isJump || aheadMs < 0) this.#lead += aheadMs
    const now = monotonicNow + this.#sleptMs
    if (isJump) this.#onJump(aheadMs)
    return now
  }

  /** Now, and forgives the drift so far: months of it would otherwise add up to a jump. */
  start(): number {
    const now = this.now()
    this.#lead = this.#clock.wallNow() - this.#clock.monotonicNow()
    return now
  }
}
