import type { Clock } from '../core/clock.ts'
import { hasJumped } from '../core/token-clock.ts'
import { parseHttpDate } from '../wire/http-date.ts'
import { isAfter, type Timestamp } from './timestamp.ts'

/**
 * What time it is at the service, whatever this machine's clock says: the last accepted `meta.time`, carried forward
 * monotonically; where that is missing, or this machine's clocks have jumped since, the answer's `Date`.
 */
export class ServiceClock {
  #anchor: (Sighting & { lead: number }) | undefined
  /** The last answer whose `meta.time` did not advance, if none was accepted since. */
  #refused: Sighting | undefined

  /** The last `meta.time` that was accepted. */
  get lastTime(): Timestamp | undefined {
    return this.#anchor?.time
  }

  /** @param sent When the request that `time` answers was sent: counted from there, no lifetime is too long. */
  set(time: Timestamp, sent: Moment): void {
    this.#anchor = { time, monotonic: sent.monotonic, lead: sent.wall - sent.monotonic }
    this.#refused = undefined
  }

  /**
   * Whether the service has put its clock back, told by the second answer in a row whose signed `time` does not advance.
   *
   * The first one is remembered: it may be a replay. Where somebody holds two answers that the service signed within seconds
   * of each other, and replays both at their pace, this cannot tell them from the service. What such a replay brings is a
   * refresh token that was used long ago.
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
    // Whole seconds, cut: it may be almost the next one.
    return dated === undefined ? carried : dated + 1_000
  }
}

/** A `meta.time`, and when the request that it answers was sent. */
export interface Sighting {
  readonly time: Timestamp
  readonly monotonic: number
}

/** What the ways of two requests may differ by. */
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
