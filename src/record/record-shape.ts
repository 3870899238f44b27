import type { Fate } from '../core/refresh-fate.ts'
import type { CoolDown } from '../core/token-store.ts'

/**
 * The record of one account, as plain JSON data. Instants (`at`) are told by the one clock that all owners of the record share. That clock
 * may be set back. So each instant has a duration beside it, and the rules trust no instant for longer than that.
 */
export interface RecordState {
  readonly version: number
  /** The fence of the last granted claim. Fences only grow, even if the record is lost: no fence is below the clock's time. */
  readonly fence: number
  /** `clear` has outdated all claims up to this fence. */
  readonly clearedFence: number
  /** Another exchange may still be in flight, e.g. because a claim expired unsettled. */
  readonly overlaps: boolean
  /** The number of the login: `clear` and the login of somebody else raise it. Requests of one login never get tokens of another (R10). */
  readonly login: number
  /** The fingerprint of the person who logged in last, if it is known. It outlives a logout. */
  readonly subject?: string | undefined
  /** Random, of the login that was adopted last: the manager that adopted it knows it as its own, even if it never heard its number. */
  readonly loginId?: string | undefined
  /** When the last login began. `adopt` alone raises it, and `clear` keeps it. Absent: no login of this release. */
  readonly adoptedAt?: number | undefined
  /** The `loginId` of the last eight logins that were cleared or replaced, the last one first. */
  readonly ended?: readonly string[] | undefined
  /** Fingerprints of refresh tokens: with which this login began; the last eight that it has spent; and those of earlier logins. */
  readonly began?: string | undefined
  readonly spent?: readonly string[] | undefined
  readonly past?: readonly string[] | undefined
  /** Roughly how many owners have adopted tokens since the last renewals. Absent: few. */
  readonly owners?: number | undefined
  /** The epoch of the register when the record was written. */
  readonly epoch?: string | undefined
  readonly pair?: Pair | undefined
  readonly claim?: StoredLease | undefined
  readonly rest?: StoredCoolDown | undefined
}

export interface Pair extends Fate {
  readonly at: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessMs: number
  readonly refreshToken?: string | undefined
  readonly refreshMs?: number | undefined
  /** Of the refresh token. */
  readonly fingerprint?: string | undefined
  /** Renewal is due after this time, if something asks for it before the access token does. */
  readonly dueMs?: number | undefined
  /** What the source needs to refresh and revoke these tokens, as its own text. */
  readonly context?: string | undefined
  /** The mark of the credentials that brought these tokens, if a function gave them. */
  readonly credentials?: string | undefined
  /** The fence of the claim that brought the pair. */
  readonly fence: number
  /**
   * When an owner first saw that the register may have lost what came after this pair. Until all owners had time to look, nobody presents the refresh token of
   * a login: one of them may have its successor.
   */
  readonly lossAt?: number | undefined
  /** Another exchange may have been in flight when the pair came. At some services that ends the session of this pair. */
  readonly overlapped: boolean
}

export interface StoredLease {
  readonly at: number
  readonly ms: number
  readonly owner: string
  readonly fence: number
  /** The owner has reported how its last exchange ended, and the claim stands for the next one. Of a logout: it presents nothing. */
  readonly settled: boolean
}

/** `ms` is null: until `clear` or `adopt`. */
export type StoredCoolDown = Omit<CoolDown, 'kind' | 'ms'> & {
  readonly at: number
  readonly ms: number | null
}

/** The clock and the epoch of the register when it was read. */
export interface Reading {
  readonly now: number
  readonly epoch?: string | undefined
  /** When the epoch began, if the register can tell; else when this process first saw it. */
  readonly epochAt?: number | undefined
}

/** What a command brings. Without `state` the record stays as it is. */
export interface Change<Answer> {
  readonly state?: RecordState | undefined
  readonly answer: Answer
}
