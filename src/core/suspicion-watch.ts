import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import type { Events, SuspicionEvent } from './events.ts'
import { fingerprintOf, type Refusal, suspicionOf, verdictOf } from './suspicion.ts'

/** Tells of refused refresh tokens, and of what the obtain that follows shows; across renewals. */
export class SuspicionWatch {
  readonly #clock: Clock
  readonly #events: Events
  readonly #action: SuspicionEvent['action']
  /** Waits for the obtain that settles it. */
  #open: { fingerprint: Promise<string>; remainingMs: number | undefined } | undefined
  /** Refresh tokens that fell under suspicion. */
  count = 0

  constructor(clock: Clock, events: Events, action: SuspicionEvent['action']) {
    this.#clock = clock
    this.#events = events
    this.#action = action
  }

  /** @returns Whether everything must stop. */
  refused(refreshToken: string, refusal: Refusal, { status = 401, serviceCode }: TokenError): boolean {
    const suspicion = suspicionOf(refusal)
    if (!suspicion) return false
    this.count += 1
    const { remainingMs } = refusal
    const rejectedAt = Math.round(this.#clock.wallNow())
    const facts = {
      suspicious: true as const,
      ...suspicion,
      ...(remainingMs !== undefined && { refreshExpiresAt: Math.round(rejectedAt + remainingMs) }),
      rejectedAt,
      status,
      ...(serviceCode !== undefined && { serviceCode }),
      action: this.#action,
    }
    // Awaited by the events alone: nobody waits longer for a token because of a hash.
    const fingerprint = fingerprintOf(refreshToken)
    void fingerprint.then((found) => this.#events.emit('suspicious', { ...facts, fingerprint: found }))
    this.#open = { fingerprint, remainingMs }
    return this.#action === 'stop'
  }

  /** The credentials were accepted, or rejected. */
  settle(accepted: boolean): void {
    const open = this.#open
    if (!open) return
    this.#open = undefined
    const verdict = verdictOf(open.remainingMs, accepted)
    void open.fingerprint.then((fingerprint) => this.#events.emit('suspicionSettled', { fingerprint, verdict }))
  }

  forget(): void {
    this.#open = undefined
  }
}
