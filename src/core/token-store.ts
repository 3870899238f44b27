import type { Clock } from './clock.ts'
import type { LoginReason, TokenErrorCode } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import type { Pauses } from './pauses.ts'
import type { TokenSource } from './token-source.ts'

/** A store of tokens. Opaque: created by `memoryStore`, `sharedStore`, and the stores built on it. */
export interface TokenStore {
  readonly kind: string
}

/** A store as core sees it: one record per account, changed in atomic steps. */
export interface OpenableStore extends TokenStore {
  /** The store belongs to one user, like the storage of a browser. */
  readonly singleUser?: boolean
  /** Coordinates renewals with the other owners of a record. */
  readonly others: OtherOwners
  /** @param key A promise if the key includes what the tokens are bound to (`boundRecord`). */
  open(key: string | Promise<string>, clock: Clock, reports: StoreReports): TokenRecord
}

/** Coordinates renewals with the other owners of a record (`OTHER_OWNERS`). Without a store there are none. */
export interface OtherOwners {
  /** @returns The error message for callers after another owner failed to renew. */
  failure(coolDown: CoolDown): string
  /** Waits until no other owner makes an exchange and the record grants this owner the lease. */
  takeTurn(turn: Turn): Promise<Exclude<LeaseResult, { kind: 'busy' }>>
  /**
   * Spreads obtains with a random pause, unless a caller cannot wait. Without the shared store, every process obtains for itself.
   *
   * @param chance Uniform in [0, 1).
   */
  spread(turn: Turn, chance: number): Promise<void>
}

/** A renewal as `OtherOwners` sees it. */
export interface Turn {
  readonly account: {
    /** The digest of this manager's credentials, if known. */
    credentialsDigest: string | undefined
    /** What the renewal waits for, for the error of a caller whose wait ends. */
    awaited: (() => string) | undefined
    readonly current: { readonly usableMs: number } | undefined
    readonly settings: {
      readonly source: TokenSource
      readonly record: TokenRecord
      readonly clock: Clock
      readonly tokenClock: { now(): number }
      readonly exchangeTimeoutMs: number
      readonly renewal: { readonly maxStalenessMs: number }
      readonly random: () => number
    }
  }
  readonly pauses: Pick<Pauses, 'halted' | 'for' | 'end'>
  /** Tries once to acquire the lease. */
  tryAcquire(ttlMs: number, more: Pick<LeaseTerms, 'maxStalenessMs' | 'credentialsDigest'>): Promise<LeaseResult>
  readonly start: { isAwaited(): boolean }
  /** When the wait of the first caller ends, monotonic ms. */
  readonly limit: number
}

/** Receives the reports of a store: the `Events` of its manager, which emits each report at most once a minute. Messages must contain no secret. */
export interface StoreReports {
  anomaly(kind: AnomalyKind, message: string): unknown
  storeUnavailable(message: string): unknown
}

/**
 * The tokens of one account, shared by all owners (managers, processes) that open its key. There is no lock. An owner acquires a lease before an
 * exchange and releases it afterwards, in atomic, idempotent steps. A lease that expires before its release leaves its refresh token in doubt.
 */
export interface TokenRecord {
  /**
   * Acquires the lease for one exchange.
   *
   * @param seenVersion The highest version that this owner has seen.
   * @param ttlMs After this time, an unreleased lease no longer blocks other owners.
   */
  acquire(owner: string, seenVersion: number, ttlMs: number, terms?: LeaseTerms): Promise<LeaseResult>
  /**
   * Acquires the lease for a logout, which presents nothing. Only an exchange of another owner prevents it.
   *
   * @param ends The login that this owner ends.
   */
  acquireForLogout(owner: string, seenVersion: number, ttlMs: number, ends: EndTerms): Promise<LeaseResult>
  /**
   * Completes a lease with new tokens. Stores them, unless newer tokens were stored or the record was cleared since the lease was granted.
   *
   * @param tokens Remaining lifetimes as of now.
   * @returns The newer tokens if there are any, else `tokens`.
   */
  accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens>
  /**
   * Releases a lease whose exchange failed. Changes nothing if the record no longer has this lease.
   *
   * @param report The owner's report, or a function that decides it inside the step.
   */
  release(lease: Lease, report: Report | Decide): Promise<ReleaseResult>
  /**
   * Clears the record and stores tokens from elsewhere. Changes nothing if the record recognizes their login by the refresh token.
   *
   * @param tokens Remaining lifetimes as of now.
   * @param isLogin Whether the tokens come from a login. If a shared store cannot write them, it then rejects instead of keeping them in this process.
   */
  adopt(seenVersion: number, tokens: NewTokens, isLogin?: boolean): Promise<AdoptedTokens>
  /**
   * Deletes tokens, leases and cool-downs. Earlier leases can no longer store tokens. Versions keep growing.
   *
   * @param seenVersion The highest version that this owner has seen.
   * @param ends The login that this owner ends. The record of another login is kept. Undefined: ends any login.
   * @returns The tokens of another login that was kept.
   */
  clear(seenVersion: number, ends?: KnownLogin): Promise<StoredTokens | undefined>
  /**
   * Checks the state of a login without a lease. Changes nothing.
   *
   * @param login The number of the owner's login; undefined if unknown.
   * @returns Undefined if nothing is new to this owner.
   */
  check?(seenVersion: number, login?: number): Promise<CheckResult | undefined>
  /** The manager no longer uses the record. */
  close?(): void
  /**
   * Calls `onChange` when the record may have changed, so that a waiting owner need not wait for its next poll.
   *
   * @returns A function that stops watching; undefined if the store does not report changes.
   */
  watch?(onChange: () => void): (() => void) | undefined
  /** Whether `watch` currently reports every change. Absent: owners watch only while they wait. */
  isWatched?(): boolean
}

/** A stored token set. The store's own clock measures remaining lifetimes, so the clocks of two machines are never compared. */
export interface StoredTokens {
  readonly version: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessRemainingMs: number
  readonly refreshToken?: string
  readonly refreshRemainingMs?: number
  /** Time until renewal is due, if the service or the expiry of the refresh token requires it earlier than the access token. */
  readonly dueRemainingMs?: number
  /** The number of the login in the record. Absent in a private record. */
  readonly login?: number
  /** The fingerprint of the user who logged in. */
  readonly subject?: string
  /** Random ID of an adopted login. Renewals keep it. */
  readonly loginId?: string
  /** What the source needs to refresh and revoke these tokens. */
  readonly context?: string
  /** The digest of the credentials that obtained the tokens. */
  readonly credentials?: string
  /** The fingerprint of the refresh token, if the record computes it. */
  readonly fingerprint?: string | undefined
}

/** The tokens from an exchange or a login. Without an access token, `accessToken` is empty and its lifetime is 0. */
export type NewTokens = Omit<StoredTokens, 'version' | 'login'>

/** Whether the two token sets have the same access token or the same refresh token. */
export function areSame(one: NewTokens, { accessToken, refreshToken }: NewTokens): boolean {
  const isSameAccess = accessToken !== '' && accessToken === one.accessToken
  return isSameAccess || (refreshToken !== undefined && refreshToken === one.refreshToken)
}

/** @returns The tokens with all remaining lifetimes reduced by `byMs`. */
export function aged<Tokens extends NewTokens>(tokens: Tokens, byMs: number): Tokens {
  const { accessRemainingMs, refreshRemainingMs, dueRemainingMs } = tokens
  return {
    ...tokens,
    accessRemainingMs: accessRemainingMs - byMs,
    ...(refreshRemainingMs !== undefined && { refreshRemainingMs: refreshRemainingMs - byMs }),
    ...(dueRemainingMs !== undefined && { dueRemainingMs: dueRemainingMs - byMs }),
  }
}

/** How an owner identifies a login. */
export interface KnownLogin {
  /** The number of the login in the record, if known. */
  readonly login?: number | undefined
  readonly loginId?: string | undefined
}

/**
 * Whether the record has a different login than the owner. If the record was lost and a clock was set back, the number and version of a later login
 * may be lower than those that the owner has seen.
 */
export function isOfOther(stored: { login: number; loginId?: string | undefined }, known: KnownLogin): boolean {
  const { login, loginId } = known
  if (loginId !== undefined && loginId === stored.loginId) return false
  return login === undefined ? loginId !== undefined : stored.login > 0 && stored.login !== login
}

/** The terms on which an owner acquires a lease. With `login`, the lease neither presents nor changes the tokens of another login. */
export interface LeaseTerms extends Pick<KnownLogin, 'login'> {
  /** How long the service accepts a used refresh token. Infinity: until the token expires. Default 0. */
  readonly graceMs?: number
  /** Whether the lease may be granted in a cool-down that is not firm. */
  readonly breaksCoolDown?: boolean
  /** Only a user can obtain tokens. */
  readonly needsLogin?: boolean
  /** How to present a refresh token that has been in doubt for longer than the grace (R8, `Rules`). Absent: it is not presented. */
  readonly inDoubt?: ((doubtAt: number) => Pick<Lease, 'isLastResort' | 'isRestored'>) | undefined
  /** The longest time until an owner of a login checks the record, ms. After a loss of the record, owners write back what they have seen. */
  readonly maxStalenessMs?: number
  /** The digest of the owner's credentials. Undefined: unknown. */
  readonly credentialsDigest?: string | undefined
  readonly others?: Others
}

/** The terms on which an owner acquires the lease for a logout. */
export interface EndTerms extends KnownLogin {
  readonly others?: Others
}

/** What an owner of a shared record knows about the other owners. */
export interface Others {
  /** Exchanges that were made without the record may still be in flight. */
  readonly overlap?: boolean
  /** The name of an owner whose process died during its exchange. Its lease blocks no other owner, and leaves the refresh token in doubt, not dead. */
  readonly dead?: string
  /** This owner has seen its own clock jump. No lease expires through such a jump, so every open lease counts in full. */
  readonly distrustsClock?: boolean
}

export type Missing = Extract<LoginReason, 'none-yet' | 'logged-out' | 'lost'>

/**
 * The tokens in the record after an adoption. `known`: a login of the record began with this refresh token or has spent it, so the record is
 * unchanged. `same`: that login is current, and these are its tokens. `replaced`: these are the tokens of the login that replaced it. `ended`: the
 * record has no tokens.
 */
export interface AdoptedTokens extends StoredTokens {
  readonly known?: 'same' | 'replaced' | 'ended'
}

/** What an owner learns about its login without a lease. */
export type CheckResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  | { readonly kind: 'missing'; readonly missing: Missing }

export type LeaseResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  /** The remaining cool-down. */
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  /** `by`: the owner that makes an exchange. Undefined while that owner pauses before its next exchange. */
  | { readonly kind: 'busy'; readonly remainingMs: number; readonly by?: string | undefined }
  | Lease

/** The right to make one exchange. Pass the same object back to the record: a store may compare identities, so a copy would be a different lease. */
export interface Lease {
  readonly kind: 'granted'
  readonly fence: number
  /** The version of the record when it granted the lease, with or without tokens. */
  readonly version: number
  /** The number of the login at that time; 0: none. Absent in a private record. */
  readonly login?: number
  /** The epoch of the register at that time. */
  readonly epoch?: string
  readonly tokens?: StoredTokens
  /** The stored refresh token may be presented: it is neither retired nor in doubt for longer than the service's grace. */
  readonly presentable: boolean
  /** The stored refresh token may have been spent by an exchange whose response was lost. */
  readonly isDoubted?: boolean
  /** Logins only: the refresh token is in doubt, and may be presented only if no access token is valid. */
  readonly isLastResort?: boolean
  /** Logins only: the doubt comes from the store, which may have lost writes. */
  readonly isRestored?: boolean
  /** Logins only: consecutive rejections that left the fate of the refresh token unclear. `sinceMs`: the age of the first. */
  readonly unclear?: { readonly says: string; readonly times: number; readonly sinceMs: number }
  /** Why there are no tokens. */
  readonly missing?: Missing
  /** How often the refresh token was presented before and met a complete 5xx. */
  readonly presentations: number
  /** Consecutive failed renewals of all owners. */
  readonly failures: number
  /** Another exchange of the account may have been in flight when the stored tokens were issued. */
  readonly overlapped?: boolean
  /** The tokens belong to this owner alone, because the shared store is unavailable. */
  readonly isPrivate?: boolean
}

/**
 * The fate of the presented refresh token. `keep`: not spent, or none was presented. `counted`: met a complete 5xx, and may be presented a few more
 * times. `doubtful`: may be spent. `dead`: rejected by the service. A dead token is never presented again. A doubtful token is presented only within
 * the service's grace: later, our own lost response would look like theft. With a login, it is also presented if no access token is valid. The fate
 * does not apply to newer tokens in the record.
 */
export type RefreshTokenFate = 'keep' | 'counted' | 'doubtful' | 'dead'

export interface ReleaseResult {
  /** The stored tokens, if they are newer than those of the lease. */
  readonly newer?: StoredTokens
  /** Another exchange of the account may have been in flight: the record has granted another lease since, or the stored tokens are `overlapped`. */
  readonly contested: boolean
}

/** The owner retries after `ms`. The record reserves the lease for it until then, plus `RESERVE_MS`. */
export interface Retry {
  readonly kind: 'retry'
  readonly ms: number
}
/** What follows a failed exchange. */
export type Next = Retry | CoolDown
/** What an owner reports to the record after a failed exchange. */
export interface Report {
  readonly fate: RefreshTokenFate
  /** What follows, if it applies to the other owners too. Absent: any owner may acquire the lease next. */
  readonly shared?: Next | undefined
  /** Deletes the stored tokens: the access token must not be used any more either. */
  readonly drops?: boolean
  /** Logins only: identifies an unclear rejection. The record counts consecutive rejections with the same text. */
  readonly says?: string | undefined
}
/** Decides on the report of an owner, given the state of the record. Pure: if another owner was faster, the store calls it again. */
export type Decide = (result: ReleaseResult) => Report
/** Must exceed the time that the owner's next `acquire` takes to reach the store. */
export const RESERVE_MS = 1_000

/** The cool-down after a failed renewal: no owner calls the service for `ms`. Infinity: until `clear` or `adopt`. */
export interface CoolDown {
  readonly kind: 'cool-down'
  readonly ms: number
  /** Whether `renew()` must respect it too: the service asked for it or rejected the credentials, or a user must act. */
  readonly isFirm: boolean
  /** Consecutive failed renewals. */
  readonly failures: number
  readonly code: TokenErrorCode
  readonly status?: number
  readonly serviceCode?: string
  /** Why a login is required. */
  readonly loginReason?: LoginReason
  /** The digest of the rejected credentials. Owners with different credentials may call the service. */
  readonly by?: string | undefined
}
