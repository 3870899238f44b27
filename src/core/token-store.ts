import type { Clock } from './clock.ts'
import type { TokenErrorCode } from './errors.ts'
import type { AnomalyKind } from './events.ts'

/** Opaque for now: made by `memoryStore` and `redisStore`. */
export interface TokenStore {
  readonly kind: string
}

/** What `core` knows of a store: one record an account, changed in two atomic steps. */
export interface OpenableStore extends TokenStore {
  open(key: string, clock: Clock, reports: StoreReports): TokenRecord
}

/** What a store tells the manager that opened it; becomes events. Give no secret. */
export interface StoreReports {
  anomaly(kind: AnomalyKind, message: string): unknown
  unavailable(message: string): unknown
}

/**
 * The tokens of one account, shared by all owners (managers, processes) that open its key. Safety is in the two steps, each
 * atomic and idempotent, never in holding a lock: a claim that ran out unsettled leaves its refresh token in doubt.
 */
export interface TokenRecord {
  /**
   * Asks to make one exchange.
   *
   * @param seenVersion The highest version this owner has seen.
   * @param ttlMs After this an unsettled claim no longer stands in the way.
   */
  claim(owner: string, seenVersion: number, ttlMs: number, terms?: ClaimTerms): Promise<ClaimAnswer>
  /**
   * Settles a claim with new tokens: stores them, unless newer ones came, or `clear`, since it was granted.
   *
   * @param tokens Remaining lifetimes as of now.
   * @returns The newer ones where there are some, else these.
   */
  accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens>
  /**
   * Settles a claim whose exchange failed; from anybody but the owner of the claim it changes nothing.
   *
   * @param fate What became of the refresh token.
   * @param next The owner's own next attempt, or a rest for all owners. Without it the next claim of anybody is granted.
   */
  release(claim: GrantedClaim, fate: RefreshTokenFate, next?: Retry | CoolDown): Promise<ReleaseAnswer>
  /**
   * Stores tokens that no exchange brought, as a record that was cleared before.
   *
   * @param tokens Remaining lifetimes as of now.
   */
  adopt(seenVersion: number, tokens: NewTokens): Promise<StoredTokens>
  /**
   * Forgets tokens, claims and cool-downs, and what is granted now. Versions go on counting.
   *
   * @param seenVersion The highest version this owner has seen.
   */
  clear(seenVersion: number): Promise<void>
  /** Nobody uses it any more. */
  close?(): void
  /** Calls back when the record may have changed, so that an owner who waits need not wait for its next poll. @returns stop */
  watch?(onChange: () => void): () => void
}

/** A stored token set. Lifetimes are what remains by the store's own clock: no two local clocks are ever compared. */
export interface StoredTokens {
  readonly version: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessRemainingMs: number
  readonly refreshToken?: string
  readonly refreshRemainingMs?: number
}

/** What an exchange brought. */
export type NewTokens = Omit<StoredTokens, 'version'>

/** What an owner asks for with a claim. */
export interface ClaimTerms {
  /** For how long the service accepts a refresh token that was used. Infinity: as long as that lives. Default 0. */
  readonly graceMs?: number
  /** Whether a rest that is not firm gives way. */
  readonly breaksRest?: boolean
  /** Whether the owner has made exchanges without the record, which may still be in flight. */
  readonly overlaps?: boolean
}

export type ClaimAnswer =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  | { readonly kind: 'cooling'; readonly remainingMs: number; readonly coolDown: CoolDown }
  | { readonly kind: 'busy'; readonly remainingMs: number }
  | GrantedClaim

export interface GrantedClaim {
  readonly kind: 'granted'
  readonly fence: number
  /** That of the record when it was granted, with or without tokens. */
  readonly version: number
  readonly tokens?: StoredTokens
  /** The stored refresh token may be presented: it is neither retired, nor in doubt for longer than the service's grace. */
  readonly presentable: boolean
  /** The stored refresh token may have been spent before, and the answer was lost. */
  readonly isDoubted?: boolean
  /** How often it was presented before and met a complete 5xx. */
  readonly presentations: number
  /** Renewals in a row that gave up, whoever made them. */
  readonly failures: number
  /** Another exchange of the account may have been in flight when the stored pair came. */
  readonly overlapped?: boolean
  /** The tokens are this owner's alone, for want of the shared store. */
  readonly isPrivate?: boolean
}

/**
 * keep: not spent, or none was presented · counted: met a complete 5xx, presentable again a few times · doubtful: may have
 * been spent · dead: refused. Neither a dead nor a doubtful one is presented again, but within the service's grace: that would
 * make our own lost answer look like theft.
 */
export type RefreshTokenFate = 'keep' | 'counted' | 'doubtful' | 'dead'

export interface ReleaseAnswer {
  /** The stored tokens where they are newer than those the claim was granted on. */
  readonly newer?: StoredTokens
  /** The claim ran out, and somebody else was granted since. */
  readonly contested: boolean
  /** Another exchange of the account may have been in flight when the stored pair came, or is since. */
  readonly overlapped?: boolean
}

/** The owner tries again in a while: until then, and a moment longer, the record is kept for it. */
export interface Retry {
  readonly kind: 'retry'
  readonly ms: number
}
/** Must exceed the time that the owner's next claim takes to reach the store. */
export const RESERVE_MS = 1_000

/** A renewal gave up: nobody makes a token call for this long; Infinity: until `clear` or `adopt`. A stop drops the tokens too. */
export interface CoolDown {
  readonly kind: 'cool-down'
  readonly ms: number
  /** Nobody may cut it short: the service asked for it, or refused the credentials, or a person must act. */
  readonly isFirm: boolean
  /** Renewals in a row that gave up. */
  readonly failures: number
  readonly code: TokenErrorCode
  readonly status?: number
  readonly serviceCode?: string
}
