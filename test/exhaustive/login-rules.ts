import { CLAIM_MS, type Owner } from './owner.ts'
import { reach } from './reached.ts'
import type { Scope } from './scope.ts'
import type { TokenService } from './token-service.ts'
import type { Presentation } from './watch.ts'

/** The first cool-down after a failed renewal, ms. */
const REST_MS = 5_000
/** Between the first presentation without a response and the next one, ms. */
const PAUSE_MS = 1_000
/** An owner that waits for a login may be notified of it this much later, ms. */
const LOOK_MS = 2_000
/** Presentations of one renewal. */
const MOST = 3

/** What must never happen to a login: its refresh token is presented again in vain, or the login ends although the service has rejected nothing. */
export class LoginRules {
  readonly #service: TokenService
  readonly #scope: Scope
  readonly #fail: (what: string) => void
  #isLost = false
  /** When the first login was stored. */
  #begunAt = Infinity
  #logins = 0
  #isLoggedOut = false

  constructor(service: TokenService, scope: Scope, fail: (what: string) => void) {
    this.#service = service
    this.#scope = scope
    this.#fail = fail
  }

  /** The record was lost, or is an older one. */
  isLost(): void {
    this.#isLost = true
  }

  isStored(now: number): void {
    this.#begunAt = Math.min(now, this.#begunAt)
  }

  begins(): void {
    this.#logins += 1
  }

  isLoggedOut(): void {
    this.#isLoggedOut = true
  }

  /** @param earlier The earlier presentations of the same refresh token. */
  presents(owner: Owner, earlier: readonly Presentation[], now: number, isStepped: boolean): void {
    const last = earlier.at(-1)
    if (!last) return
    const how = `${owner.name} presents again what ${last.owner} presented (${last.ending})`
    // An older record has earlier leases only, so no owner can know. Its refresh token was used, and the service says so.
    const isExcused = this.#isLost || isStepped
    const isUsed = last.isSettled === true
    if (isUsed && !isExcused) this.#fail(how)
    const isOpen = ['open', 'accepted', 'refused'].includes(last.ending)
    const isInFlight = isOpen && now < last.at + CLAIM_MS
    if (isInFlight && !isExcused) this.#fail(`${how}, whose claim stands`)
    const { graceMs = 0 } = this.#scope
    if ((last.ending === 'unknown' || isOpen) && now - last.at >= graceMs) this.#inDoubt(owner, last, now, how)
    if (last.ending !== 'failed' || owner.isForced || earlier.length < MOST) return
    if (earlier.slice(-MOST).every(({ ending }) => ending === 'failed') && now - (last.endedAt ?? now) < REST_MS)
      this.#fail(`${how}, the fourth time without a rest`)
  }

  #inDoubt(owner: Owner, last: Presentation, now: number, how: string): void {
    reach('R8: presented again, in doubt')
    if (owner.isForced) return
    if (owner.servesFor(owner.exchangesFor)) this.#fail(`${how}, although its access token serves`)
    // After the first doubt the pauses are those after a 5xx.
    if (!last.wasDoubted && now - last.at < PAUSE_MS) this.#fail(`${how}, after ${now - last.at} ms`)
  }

  /** An owner was notified that a login is required. */
  ended({ name, wasFrozen, troubles }: Owner, now: number, reason: string | undefined): void {
    reach(`a login ends: ${reason}`)
    const isOver = this.#scope.owners.flat().includes('days')
    const isRefused = this.#service.refusedRoots.size > 0
    const mayBe: Readonly<Record<string, boolean>> = {
      'in-doubt': isRefused,
      refused: isRefused,
      'none-yet':
        this.#begunAt === Infinity || now - this.#begunAt < LOOK_MS || this.#isLost || wasFrozen || troubles > 0,
      'logged-out': this.#isLoggedOut || this.#logins > 1,
      // The register may drop the record a day after the expiry of its refresh token.
      lost: this.#isLost || isOver,
      expired: isOver,
    }
    if (reason === undefined || mayBe[reason] !== true)
      this.#fail(`the login of ${name} ends (${reason}), and the service has refused nothing`)
  }

  get key(): string {
    return [this.#isLost, this.#begunAt, this.#logins, this.#isLoggedOut, ...this.#service.refusedRoots].join()
  }
}
