import type { Clock } from '../core/clock.ts'
import type { ProofResponse, ProvedRequest } from '../core/proofs.ts'
import { hasJumped } from '../core/token-clock.ts'

/** A `Date` header, and when it was received. */
interface ServerTime {
  readonly at: number
  readonly wall: number
  readonly monotonic: number
}

interface Origin {
  readonly nonce: string | undefined
  readonly serverTime: ServerTime | undefined
}

/** Bounds the memory. Most programs call only a few origins. */
const MAX_ORIGINS = 100
/** Far longer than the nonces of known servers. */
const MAX_NONCE_LENGTH = 4_096

/** The latest nonce (RFC 9449, section 8.2) and the time of each server, by origin. */
export class Origins {
  readonly #clock: Clock
  readonly #known = new Map<string, Origin>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nonceOf({ url }: ProvedRequest): string | undefined {
    return this.#known.get(url.origin)?.nonce
  }

  /** @returns How far the server's clock (this machine's, if the server's is unknown) is ahead of the monotonic clock, ms. */
  leadMs({ url }: ProvedRequest): number {
    return leadOf(this.#known.get(url.origin)?.serverTime, this.#clock)
  }

  learn(request: ProvedRequest, response: ProofResponse): void {
    const { origin } = request.url
    const known = this.#known.get(origin)
    const nonce = nonceIn(response.nonce) ?? known?.nonce
    // A rejected proof makes the known time doubtful. Without a newer one, the time of this machine is used.
    const serverTime = this.#serverTimeIn(request, response) ?? (response.isRejected ? undefined : known?.serverTime)
    // The map keeps the most recently used origins.
    this.#known.delete(origin)
    this.#known.set(origin, { nonce, serverTime })
    if (this.#known.size > MAX_ORIGINS) this.#known.delete(this.#known.keys().next().value ?? '')
  }

  #serverTimeIn(request: ProvedRequest, { status, date, age }: ProofResponse): ServerTime | undefined {
    const at = dateIn(date)
    if (at === undefined || Number(age) > 0) return undefined
    const serverTime: ServerTime = { at, wall: this.#clock.wallNow(), monotonic: this.#clock.monotonicNow() }
    // A browser may return this response from its cache. Its `Date` is then too early, so a `Date` before the known time is ignored.
    const mayBeOld = ['GET', 'HEAD'].includes(request.method) && status !== 401
    return mayBeOld && at - serverTime.monotonic < this.leadMs(request) ? undefined : serverTime
  }
}

/** After a clock jump (sleep, or a step of the wall clock) the server time is unusable. */
function leadOf(serverTime: ServerTime | undefined, clock: Clock): number {
  const [wall, monotonic] = [clock.wallNow(), clock.monotonicNow()]
  const isUsable = serverTime && !hasJumped(wall - serverTime.wall - (monotonic - serverTime.monotonic))
  return isUsable ? serverTime.at - serverTime.monotonic : wall - monotonic
}

/** Two nonces, which a client sees joined by a comma and a space, violate RFC 9449, section 8.1. */
function nonceIn(nonce: unknown): string | undefined {
  return typeof nonce === 'string' && nonce.length <= MAX_NONCE_LENGTH && NONCE.test(nonce) ? nonce : undefined
}
const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

/** The format that servers must send (RFC 9110, section 5.6.7). `Date.parse` alone accepts almost anything. */
function dateIn(date: unknown): number | undefined {
  if (typeof date !== 'string' || !HTTP_DATE.test(date)) return undefined
  const at = Date.parse(date)
  return Number.isNaN(at) ? undefined : at
}
const HTTP_DATE = /^\w{3}, \d\d \w{3} [1-9]\d{3} \d\d:\d\d:\d\d GMT$/
