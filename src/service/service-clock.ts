import type { Clock } from '../core/clock.ts'
import { hasJumped } from '../core/token-clock.ts'
import { parseHttpDate } from '../wire/http-date.ts'
import { isAfter, type Timestamp } from './timestamp.ts'

/**
 * The time at the service, independent of this machine's wall clock: the last accepted `meta.time`, carried forward
 * monotonically. If there is none, or this machine's clocks have jumped since, the `Date` of the answer.
 */
export class ServiceClock {
  #anchor: (Sighting & { lead: number }) | undefined
  /** The last answer whose `meta.time` did not advance, if none was accepted since. */
  #refused: Sighting | undefined

  /** The last `meta.time` that was accepted. */
  get lastTime(): Timestamp | undefined {
    return this.#anchor?.time
  }

  /** @param sent When the request that `time` answers was sent. Counted from then, no lifetime is too long. */
  set(time: Timestamp, sent: Moment): void {
    this.#anchor = { time, monotonic: sent.monotonic, lead: sent.wall - sent.monotonic }
    this.#refused = undefined
  }

  /**
   * Whether the service has put its clock back. The second answer in a row whose signed `time` does not advance shows this.
   *
   * The first such answer may be a replay. An attacker who holds two answers that the service signed within seconds of each
   * other can replay both at the same pace, and this method then takes them for the service's. Such a replay brings a refresh
   * token that was used long ago.
   */
  hasGoneBack(time: Timestamp, sent: Moment): boolean {
    const earlier = this.#refused
    this.#refused = { time, monotonic: sent.monotonic }
    return earlier !== undefined && isPaceOfClock(earlier, this.#refused)
  }

  forget(): void {
    this.#anchor = undefined
    this.#refused = undefined
  }

  /**
   * @param date The answer's `Date` header.
   * @returns The service's time when the request was sent, or a little later; undefined when nothing tells it.
   */
  at(sent: Moment, date: unknown): number | undefined {
    const anchor = this.#anchor
    const carried = anchor && anchor.time.at + sent.monotonic - anchor.monotonic
    const jumped = anchor && hasJumped(sent.wall - sent.monotonic - anchor.lead)
    if (carried !== undefined && !jumped) return carried
    const dated = parseHttpDate(date, sent.wall)
    // `Date` is cut to whole seconds: the true time may be almost one second later.
    return dated === undefined ? carried : dated + 1_000
  }
}

/** A `meta.time`, and when the request that it answers was sent (monotonic ms). */
export interface Sighting {
  readonly time: Timestamp
  readonly monotonic: number
}

/** The travel times of two requests may differ by this. */
const PACE_TOLERANCE_MS = 2_000

/** Whether as much time passed at the service between two answers as here. In a replay of one answer none passes. */
export function isPaceOfClock(earlier: Sighting, later: Sighting): boolean {
  const passedThere = later.time.at - earlier.time.at
  const passedHere = later.monotonic - earlier.monotonic
  return isAfter(later.time, earlier.time) && Math.abs(passedThere - passedHere) <= PACE_TOLERANCE_MS
}

export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export function momentOf(clock: Clock): Moment {
  return { wall: clock.wallNow(), monotonic: clock.monotonicNow() }
}
