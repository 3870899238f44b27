import { defined } from './defined.ts'
import type { Clock } from './clock.ts'
import { fingerprintOf } from './digest.ts'
import { detailsOf, type TokenError } from './errors.ts'
import type { Events, SuspicionEvent, TokenEvents } from './events.ts'

/** The facts about a rejected refresh token. */
export interface RejectedRefreshToken {
  /** Remaining lifetime of the refresh token, ms; undefined if its expiry is unknown. */
  readonly remainingMs: number | undefined
  /** How far `remainingMs` may be off. */
  readonly uncertaintyMs: number
  /** An earlier presentation of this token had an unknown outcome. */
  readonly attemptedBefore: boolean
  /** An earlier request that presented this token got a 5xx. */
  readonly met5xx: boolean
  /** Another exchange of the account may have been in flight. */
  readonly contested: boolean
  readonly storeReachable: boolean
  /** The credentials have changed since these tokens were obtained. */
  readonly isRotated: boolean
}

export type Suspicion = Pick<SuspicionEvent, 'evidence' | 'severity'>

export function verdictOf(
  remainingMs: number | undefined,
  accepted: boolean,
): TokenEvents['suspicionSettled']['verdict'] {
  if (!accepted) return 'account-rejected'
  return remainingMs !== undefined && remainingMs <= 0 ? 'was-expired' : 'token-only'
}

/** Emits `suspicious` for a rejected refresh token, and `suspicionSettled` when a later renewal settles the suspicion. */
export class SuspicionWatch {
  readonly #clock: Clock
  readonly #events: Events
  readonly #action: SuspicionEvent['action']
  /** The suspicion that is not yet settled. */
  #open: { fingerprint: string; remainingMs: number | undefined } | undefined
  #noted: { refreshToken: string; fingerprint: Promise<string> } | undefined
  /** The number of suspicious refresh tokens. */
  count = 0

  constructor(clock: Clock, events: Events, action: SuspicionEvent['action']) {
    this.#clock = clock
    this.#events = events
    this.#action = action
  }

  /** Computes the fingerprint in advance, because hashing is asynchronous and renewals should not wait for it. */
  note(refreshToken: string): Promise<string> {
    if (this.#noted?.refreshToken !== refreshToken) {
      const fingerprint = fingerprintOf(refreshToken).catch(() => 'unknown')
      this.#noted = { refreshToken, fingerprint }
    }
    return this.#noted.fingerprint
  }

  /** @param remainingMs Remaining lifetime of the refresh token; undefined if its expiry is unknown. */
  async report(
    refreshToken: string,
    suspicion: Suspicion,
    remainingMs: number | undefined,
    error: TokenError,
  ): Promise<void> {
    const { status, serviceCode } = detailsOf(error)
    this.count += 1
    const rejectedAt = Math.round(this.#clock.wallNow())
    const fingerprint = await this.note(refreshToken)
    this.#open = { fingerprint, remainingMs }
    this.#events.emit('suspicious', {
      ...suspicion,
      fingerprint,
      ...(remainingMs !== undefined && { refreshExpiresAt: Math.round(rejectedAt + remainingMs) }),
      rejectedAt,
      ...defined({ status, serviceCode }),
      action: this.#action,
    })
  }

  /** `accepted`, `rejected`: the response to the credentials. `superseded`: another owner had newer tokens. */
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
