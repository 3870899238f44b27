import type { Clock } from '../core/clock.ts'
import { JUMP_MS } from '../core/token-clock.ts'
import { parseHttpDate } from '../core/http-date.ts'
import type { Timestamp } from './timestamp.ts'

/**
 * What time it is at the service, whatever this machine's clock says: the last accepted `meta.time`, carried forward
 * monotonically; where that is missing, or this machine's clocks have jumped since, the answer's `Date`.
 */
export class ServiceClock {
  #anchor: { time: Timestamp; monotonic: number; lead: number } | undefined

  /** The last `meta.time` that was accepted. */
  get lastTime(): Timestamp | undefined {
    return this.#anchor?.time
  }

  /** @param sent When the request that `time` answers was sent: counted from there, no lifetime is too long. */
  set(time: Timestamp, sent: Moment): void {
    this.#anchor = { time, monotonic: sent.monotonic, lead: sent.wall - sent.monotonic }
  }

  forget(): void {
    this.#anchor = undefined
  }

  /**
   * @param date The answer's `Date` header.
   * @returns The service's time when the request was sent, or a little later; undefined when nothing tells it.
   */
  at(sent: Moment, date: unknown): number | undefined {
    const anchor = this.#anchor
    const carried = anchor && anchor.time.at + sent.monotonic - anchor.monotonic
    const jumped = anchor && Math.abs(sent.wall - sent.monotonic - anchor.lead) > JUMP_MS
    if (carried !== undefined && !jumped) return carried
    const dated = parseHttpDate(date, sent.wall)
    // Whole seconds, cut: it may be almost the next one.
    return dated === undefined ? carried : dated + 1_000
  }
}

export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export function momentOf(clock: Clock): Moment {
  return { wall: clock.wallNow(), monotonic: clock.monotonicNow() }
}
