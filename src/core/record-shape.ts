import type { CoolDown } from './token-store.ts'

/**
 * The record of one account, as plain JSON data. Instants (`at`) are of the one clock that all owners of the record share. Beside each
 * instant stands the duration that it was written for, and nothing is believed for longer: that clock may be set back.
 */
export interface RecordState {
  readonly version: number
  /** Of the last claim that was granted. Fences only grow, even where a record was lost: they are not below the clock. */
  readonly fence: number
  /** Claims up to this fence belong to what `clear` has forgotten. */
  readonly clearedFence: number
  /** A claim ran out unsettled since the pair was stored: its exchange may still be in flight. */
  readonly overlaps: boolean
  /** That of the register when the record was written. */
  readonly epoch?: string | undefined
  readonly pair?: Pair | undefined
  readonly claim?: Claim | undefined
  readonly rest?: Rest | undefined
}

export interface Pair {
  readonly at: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessMs: number
  readonly refreshToken?: string | undefined
  readonly refreshMs?: number | undefined
  /** Of the claim that brought it. */
  readonly fence: number
  /** The refresh token was refused: it must not be presented any more. */
  readonly retired: boolean
  /** Since when the refresh token may have been spent, though nobody has its answer. 0: since an unknown time. */
  readonly doubtAt?: number | undefined
  /** Of the refresh token, that met a 5xx. */
  readonly presentations: number
  /** Another exchange of the account may have been in flight: at some services that ends this pair's session. */
  readonly overlapped: boolean
}

export interface Claim {
  readonly at: number
  readonly ms: number
  readonly owner: string
  readonly fence: number
  /** Its owner has said how the exchange ended, and tries again. */
  readonly settled: boolean
}

/** `ms` null: until `clear`. */
export type Rest = Omit<CoolDown, 'kind' | 'ms'> & { readonly at: number; readonly ms: number | null }

/** What the register said beside the state. */
export interface Reading {
  readonly now: number
  readonly epoch?: string | undefined
}

/** @param state Absent: the same state stays. */
export interface Change<Answer> {
  readonly state?: RecordState
  readonly answer: Answer
}
