import type { Clock } from '../core/clock.ts'
import type { ProofResponse, ProvedRequest } from '../core/proofs.ts'
import { hasJumped } from '../core/token-clock.ts'

/** A `Date`, and when it came. */
interface Sighting {
  readonly at: number
  readonly wall: number
  readonly monotonic: number
}

interface Origin {
  readonly nonce: string | undefined
  readonly sighting: Sighting | undefined
}

/** A program talks to a few origins. An attachment to many of them must not remember each one for ever. */
const MOST_ORIGINS = 100
/** Far longer than the nonces of known servers. */
const LONGEST_NONCE = 4_096

/** What the servers have said, by origin: the latest nonce (RFC 9449, section 8.2), and their time. */
export class Origins {
  readonly #clock: Clock
  readonly #known = new Map<string, Origin>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nonceOf({ url }: ProvedRequest): string | undefined {
    return this.#known.get(url.origin)?.nonce
  }

  /** @returns How far the time of the server is ahead of the monotonic clock, ms; the time of this machine if nobody knows that of the server. */
  leadMs({ url }: ProvedRequest): number {
    return leadOf(this.#known.get(url.origin)?.sighting, this.#clock)
  }

  learn(request: ProvedRequest, answer: ProofResponse): void {
    const { origin } = request.url
    const known = this.#known.get(origin)
    const nonce = nonceIn(answer.nonce) ?? known?.nonce
    // A refused proof had the time of an earlier answer: without a newer one that of this machine is tried.
    const sighting = this.#sightingIn(request, answer) ?? (answer.isRejected ? undefined : known?.sighting)
    // The origin that was heard last is the last one to be forgotten.
    this.#known.delete(origin)
    this.#known.set(origin, { nonce, sighting })
    if (this.#known.size > MOST_ORIGINS) this.#known.delete(this.#known.keys().next().value ?? '')
  }

  #sightingIn(request: ProvedRequest, { status, date, age }: ProofResponse): Sighting | undefined {
    const at = dateIn(date)
    if (at === undefined || Number(age) > 0) return undefined
    const sighting: Sighting = { at, wall: this.#clock.wallNow(), monotonic: this.#clock.monotonicNow() }
    // A browser may take this answer from its cache, with the `Date` of long ago. Such a `Date` is never later than the time of the server.
    const mayBeOld = ['GET', 'HEAD'].includes(request.method) && status !== 401
    return mayBeOld && at - sighting.monotonic < this.leadMs(request) ? undefined : sighting
  }
}

/** After a jump of the clocks (sleep, or a correction of the wall clock) the sighting says nothing any more. */
function leadOf(sighting: Sighting | undefined, clock: Clock): number {
  const [wall, monotonic] = [clock.wallNow(), clock.monotonicNow()]
  const isUsable = sighting && !hasJumped(wall - sighting.wall - (monotonic - sighting.monotonic))
  return isUsable ? sighting.at - sighting.monotonic : wall - monotonic
}

/** A server that sends two nonces, which a client sees joined by a comma and a space, breaks RFC 9449, section 8.1. */
function nonceIn(nonce: unknown): string | undefined {
  return typeof nonce === 'string' && nonce.length <= LONGEST_NONCE && NONCE.test(nonce) ? nonce : undefined
}
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The form that servers must send (RFC 9110, section 5.6.7). `Date.parse` alone takes almost anything. */
function dateIn(date: unknown): number | undefined {
  if (typeof date !== 'string' || !HTTP_DATE.test(date)) return undefined
  const at = Date.parse(date)
  return Number.isNaN(at) ? undefined : at
}
const HTTP_DATE = /^\w{3}, \d\d \w{3} [1-9]\d{3} \d\d:\d\d:\d\d GMT$/
