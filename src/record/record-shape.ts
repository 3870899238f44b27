import type { StoredAct } from '../core/acts.ts'
import type { Fate } from '../core/refresh-fate.ts'
import type { CoolDown, MachineInstant } from '../core/lease.ts'

/**
 * The record of one account, as plain JSON data. Instants (`at`) are read from the one clock that all owners of the record share. That clock may be set back,
 * so each instant comes with a duration, and no rule trusts an instant for longer than that.
 */
export interface RecordState {
  readonly version: number
  /** The fence of the last granted lease. Fences only grow, even if the record is lost: no fence is below the clock's time. */
  readonly fence: number
  /** `clear` has invalidated all leases up to this fence. */
  readonly clearedFence: number
  /** Another exchange may still be in flight, for example because a lease expired without a report. */
  readonly overlaps: boolean
  /** The number of the login. `clear` and another user's login raise it. Requests of one login never get tokens of another (R10). */
  readonly login: number
  /** The fingerprint of the last user, if known. Survives a logout. */
  readonly subject?: string | undefined
  /** The random id of the last adopted login. Its manager recognizes it, even without having read the login's number. */
  readonly loginId?: string | undefined
  /** The act of the last login. `clear` keeps it. Absent: none. */
  readonly act?: StoredAct | undefined
  /** The `loginId` of the last eight logins that were cleared or replaced, newest first. */
  readonly ended?: readonly string[] | undefined
  /** Fingerprints of refresh tokens: the first one of this login; the last eight that it has spent; and those of earlier logins. */
  readonly began?: string | undefined
  readonly spent?: readonly string[] | undefined
  readonly past?: readonly string[] | undefined
  /** The access tokens of the resources of this login (`src/resources/slot-view.ts`). */
  readonly resources?: unknown
  /** The approximate number of owners that have adopted tokens since the last renewals. Absent: few. */
  readonly owners?: number | undefined
  /** The epoch of the register when the record was written. */
  readonly epoch?: string | undefined
  readonly tokens?: StoredTokenSet | undefined
  readonly lease?: StoredLease | undefined
  readonly coolDown?: StoredCoolDown | undefined
}

export interface StoredTokenSet extends Fate {
  readonly at: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessMs: number
  readonly refreshToken?: string | undefined
  readonly refreshMs?: number | undefined
  /** The fingerprint of the refresh token. */
  readonly fingerprint?: string | undefined
  /** Renewal is due after this time, if the source asks for it before the access token expires. */
  readonly dueMs?: number | undefined
  /** Data of the source to refresh and revoke these tokens, as text. */
  readonly context?: string | undefined
  /** A digest of the credentials that obtained these tokens, if a function returned them. */
  readonly credentials?: string | undefined
  /** The fence of the lease that stored these tokens. */
  readonly fence: number
  /**
   * When an owner first saw that the register may have lost the writes after this token set. Until all owners have had time to check, none presents the
   * refresh token of a login: one of them may have its successor.
   */
  readonly lossAt?: number | undefined
  /** Another exchange may have been in flight when these tokens were stored. At some services that ends their session. */
  readonly overlapped: boolean
}

export interface StoredLease {
  readonly at: number
  /** The same instant by the clock of the machine, if all owners share one. */
  readonly machine?: MachineInstant | undefined
  readonly ms: number
  readonly owner: string
  readonly fence: number
  /** The owner has reported how its last exchange ended, and keeps the lease for the next one. Also set for a logout, which presents nothing. */
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
  /** Now, by the clock of the machine that all owners share. Absent: the owners may be on several machines. */
  readonly machine?: MachineInstant | undefined
  readonly epoch?: string | undefined
  /** When the epoch began, if the register knows; otherwise when this process first saw it. */
  readonly epochAt?: number | undefined
}

/** The result of a command. If `state` is undefined, the record stays as it is. */
export interface Change<Result> {
  readonly state: RecordState | undefined
  readonly result: Result
}

export const unchanged = <Result>(result: Result): Change<Result> => ({ state: undefined, result })
