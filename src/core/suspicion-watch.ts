import type { Clock } from './clock.ts'
import type { TokenError } from './errors.ts'
import type { Events, SuspicionEvent } from './events.ts'
import { fingerprintOf } from './digest.ts'
import { type Suspicion, verdictOf } from './suspicion.ts'

/** Emits `suspicious` for a refused refresh token, and `suspicionSettled` when a later renewal shows more. */
export class SuspicionWatch {
  readonly #clock: Clock
  readonly #events: Events
  readonly #action: SuspicionEvent['action']
  /** The suspicion that is not settled yet. */
  #open: { fingerprint: string; remainingMs: number | undefined } | undefined
  #noted: { refreshToken: string; fingerprint: Promise<string> } | undefined
  /** Refresh tokens that fell under suspicion. */
  count = 0

  constructor(clock: Clock, events: Events, action: SuspicionEvent['action']) {
    this.#clock = clock
    this.#events = events
    this.#action = action
  }

  /** Computes the fingerprint in advance: hashing is asynchronous, and no renewal should wait for it. */
  note(refreshToken: string): Promise<string> {
    if (this.#noted?.refreshToken !== refreshToken) {
      const fingerprint = fingerprintOf(refreshToken).catch(() => 'unknown')
      this.#noted = { refreshToken, fingerprint }
    }
    return this.#noted.fingerprint
  }

  /** @param remainingMs Remaining life of the refresh token; undefined if its expiry is not known. */
  async report(
    refreshToken: string,
    suspicion: Suspicion,
    remainingMs: number | undefined,
    { status, serviceCode }: TokenError,
  ): Promise<void> {
    this.count += 1
    const rejectedAt = Math.round(this.#clock.wallNow())
    const fingerprint = await this.note(refreshToken)
    this.#open = { fingerprint, remainingMs }
    this.#events.emit('suspicious', {
      suspicious: true,
      ...suspicion,
      fingerprint,
      ...(remainingMs !== undefined && { refreshExpiresAt: Math.round(rejectedAt + remainingMs) }),
      rejectedAt,
      ...(status !== undefined && { status }),
      ...(serviceCode !== undefined && { serviceCode }),
      action: this.#action,
    })
  }

  /** `accepted`, `rejected`: what became of the credentials. `superseded`: another owner had a newer pair. */
  settle(ended: 'accepted' | 'rejected' | 'superseded'): void {
    const open = this.#open
    if (!open) return
    this.#open = undefined
    const verdict = ended === 'superseded' ? ended : verdictOf(open.remainingMs, ended === 'accepted')
    this.#events.emit('suspicionSettled', { fingerprint: open.fingerprint, verdict })
  }

  forget(): void {
    this.#open = undefined
  }
}
