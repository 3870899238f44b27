import type { Clock } from '../core/clock.ts'
import { hasJumped } from '../core/token-clock.ts'
import { parseHttpDate } from '../wire/http-date.ts'
import { isAfter, type Timestamp } from './timestamp.ts'

/** The signed part of an answer, and when the request that it answers was sent. */
export interface Sighting {
  /** `meta.time` */
  readonly time: Timestamp
  readonly refresh: unknown
  readonly sent: Moment
}

/** `set-back`: the service has put its clock back. `old`: a replay, as far as anyone can tell. */
export type Age = 'newer' | 'set-back' | 'old'

/**
 * The time at the service, independent of this machine's wall clock: the last accepted `meta.time`, carried forward
 * monotonically. If there is none, or this machine's clocks have jumped since, the `Date` of the answer.
 */
export class ServiceClock {
  #accepted: Sighting | undefined
  /** The last answer that was found old, if none was accepted since. */
  #refused: Sighting | undefined
  #zoneWasSeen = false

  /** Whether a `meta.time` that was accepted had a zone. `forget` does not change it: the service is still the same. */
  get zoneWasSeen(): boolean {
    return this.#zoneWasSeen
  }

  /** Compares a signed answer with the last one that was accepted, and with the one that was refused since. */
  judge(seen: Sighting): Age {
    const age = ageOf(seen, this.#accepted, this.#refused)
    if (age === 'old') this.#refused = seen
    return age
  }

  /** Counts from `seen`: from when its request was sent, so that no lifetime is too long. */
  set(seen: Sighting): void {
    this.#accepted = seen
    this.#refused = undefined
    this.#zoneWasSeen ||= seen.time.hasZone
  }

  forget(): void {
    this.#accepted = undefined
    this.#refused = undefined
  }

  /**
   * @param date The answer's `Date` header.
   * @returns The service's time when the request was sent, or a little later; undefined when nothing tells it.
   */
  at(sent: Moment, date: unknown): number | undefined {
    const last = this.#accepted
    const carried = last && last.time.at + sent.monotonic - last.sent.monotonic
    const jumped = last && hasJumped(leadOf(sent) - leadOf(last.sent))
    if (carried !== undefined && !jumped) return carried
    const dated = parseHttpDate(date, sent.wall)
    // `Date` is cut to whole seconds: the true time may be almost one second later.
    return dated === undefined ? carried : dated + 1_000
  }
}

/**
 * What the signed time of an answer says about its age.
 *
 * @param accepted The last answer that was accepted. Without one, nothing can be old.
 * @param refused The last answer that was found old since.
 */
function ageOf(seen: Sighting, accepted: Sighting | undefined, refused: Sighting | undefined): Age {
  if (!accepted || isAfter(seen.time, accepted.time)) return 'newer'
  // The service may sign two answers in one instant, for two refresh tokens. The same refresh token again is a replay.
  if (!isAfter(accepted.time, seen.time) && seen.refresh !== accepted.refresh) return 'newer'
  return refused && isSetBack(refused, seen) ? 'set-back' : 'old'
}

/** The travel times of two requests may differ by this. */
const PACE_TOLERANCE_MS = 2_000
/** One renewal makes two calls within this: each takes up to 10 s, and the pause between them is short. */
const MOST_APART_MS = 30_000
/** Our clock may differ from that of the service by this. */
const MOST_OFF_MS = 5 * 60_000

/**
 * Whether two answers in a row, both too old, show that the service has put its clock back. The first one alone may be a
 * replay. In a replay of one answer no time passes. Whoever reads the calls may have recorded two answers, and may replay them
 * at the pace of the service. So the answers must also be seconds apart, and both must agree with this machine's clock within
 * five minutes: a recording is then at most that old. The `Date` of the answer proves nothing, because it is not signed.
 */
export function isSetBack(earlier: Sighting, later: Sighting): boolean {
  const passedThere = later.time.at - earlier.time.at
  const passedHere = later.sent.monotonic - earlier.sent.monotonic
  return (
    isAfter(later.time, earlier.time) &&
    passedHere <= MOST_APART_MS &&
    Math.abs(passedThere - passedHere) <= PACE_TOLERANCE_MS &&
    [earlier, later].every(({ time, sent }) => Math.abs(time.at - sent.wall) <= MOST_OFF_MS)
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
