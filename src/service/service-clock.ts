import type { Clock } from '../core/clock.ts'
import { hasJumped } from '../core/token-clock.ts'
import { parseHttpDate } from '../wire/http-date.ts'
import { isAfter, type Timestamp } from './timestamp.ts'

/** The signed part of a response, and when its request was sent. */
export interface SignedTime {
  /** `meta.time` */
  readonly time: Timestamp
  readonly refresh: unknown
  readonly sent: Moment
}

/** `set-back`: the service has set its clock back. `old`: probably a replay. */
export type Age = 'newer' | 'set-back' | 'old'

/**
 * The time at the service, independent of this machine's wall clock: the last accepted `meta.time`, advanced by the
 * monotonic clock. If there is none, or this machine's clocks have jumped since, the `Date` of the response.
 */
export class ServiceClock {
  #accepted: SignedTime | undefined
  /** The last response that was old, if none has been accepted since. */
  #rejected: SignedTime | undefined
  #zoneWasSeen = false

  /** Whether an accepted `meta.time` had a zone. `forget` does not reset it, because the service is still the same. */
  get zoneWasSeen(): boolean {
    return this.#zoneWasSeen
  }

  /** Compares a signed response with the last accepted one, and with the last one rejected since then. */
  judge(seen: SignedTime): Age {
    const age = ageOf(seen, this.#accepted, this.#rejected)
    if (age === 'old') this.#rejected = seen
    return age
  }

  /** The time counts from when the request was sent, so that no lifetime is too long. */
  set(seen: SignedTime): void {
    this.#accepted = seen
    this.#rejected = undefined
    this.#zoneWasSeen ||= seen.time.hasZone
  }

  forget(): void {
    this.#accepted = undefined
    this.#rejected = undefined
  }

  /**
   * @param date The `Date` header of the response.
   * @returns The service's time when the request was sent, or a little later; undefined if unknown.
   */
  at(sent: Moment, date: unknown): number | undefined {
    const last = this.#accepted
    const carried = last && last.time.at + sent.monotonic - last.sent.monotonic
    const jumped = last && hasJumped(leadOf(sent) - leadOf(last.sent))
    if (carried !== undefined && !jumped) return carried
    const dated = parseHttpDate(date, sent.wall)
    // `Date` is truncated to seconds: the true time may be almost one second later.
    return dated === undefined ? carried : dated + 1_000
  }
}

/**
 * Judges the age of a response by its signed time.
 *
 * @param accepted The last accepted response. Without one, no response is old.
 * @param rejected The last response since then that was old.
 */
function ageOf(seen: SignedTime, accepted: SignedTime | undefined, rejected: SignedTime | undefined): Age {
  if (!accepted || isAfter(seen.time, accepted.time)) return 'newer'
  // The service may sign two responses at the same instant, for two refresh tokens. The same refresh token again is a replay.
  if (!isAfter(accepted.time, seen.time) && seen.refresh !== accepted.refresh) return 'newer'
  return rejected && isSetBack(rejected, seen) ? 'set-back' : 'old'
}

/** The latencies of two requests may differ by this much. */
const PACE_TOLERANCE_MS = 2_000
/** Two requests of one renewal are at most this far apart: each takes up to 10 s, and the pause between them is short. */
const MAX_INTERVAL_MS = 30_000
/** This machine's clock may differ from that of the service by this much. */
const MAX_CLOCK_ERROR_MS = 5 * 60_000

/**
 * Whether two consecutive responses that are both old show that the service has set its clock back. The first one alone may be a
 * replay. In a replay of a single response no time passes. An attacker who reads the traffic may have recorded two responses, and may replay them
 * at the pace of the service. Therefore the responses must be seconds apart, and both must agree with this machine's clock within
 * five minutes, so a recording is at most that old. The `Date` of the response proves nothing, because it is not signed.
 */
export function isSetBack(earlier: SignedTime, later: SignedTime): boolean {
  const passedThere = later.time.at - earlier.time.at
  const passedHere = later.sent.monotonic - earlier.sent.monotonic
  return (
    isAfter(later.time, earlier.time) &&
    passedHere <= MAX_INTERVAL_MS &&
    Math.abs(passedThere - passedHere) <= PACE_TOLERANCE_MS &&
    [earlier, later].every(({ time, sent }) => Math.abs(time.at - sent.wall) <= MAX_CLOCK_ERROR_MS)
  )
}

export interface Moment {
  readonly wall: number
  readonly monotonic: number
}

export function momentOf(clock: Clock): Moment {
  return { wall: clock.wallNow(), monotonic: clock.monotonicNow() }
}

function leadOf({ wall, monotonic }: Moment): number {
  return wall - monotonic
}
