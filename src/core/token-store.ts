import type { Clock } from './clock.ts'
import type { LoginReason, TokenErrorCode } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import type { Pauses } from './pauses.ts'
import type { TokenSource } from './token-source.ts'

/** Opaque: made by `memoryStore`, `sharedStore`, and the stores built on that. */
export interface TokenStore {
  readonly kind: string
}

/** What `core` knows of a store: one record per account, which atomic steps change. */
export interface OpenableStore extends TokenStore {
  /** The store serves one person, as the storage of a browser does. */
  readonly singleUser?: boolean
  /** What a renewal needs because its record has other owners. */
  readonly others: OtherOwners
  /** @param key A promise: it names what the tokens are bound to (`boundRecord`). */
  open(key: string | Promise<string>, clock: Clock, reports: StoreReports): TokenRecord
}

/** What a renewal needs because its record has other owners (`OTHER_OWNERS`). Without a store there are none. */
export interface OtherOwners {
  /** @returns What a caller reads if another owner has failed to renew. */
  failure(coolDown: CoolDown): string
  /** Waits until the record grants the exchange to this owner, and no other owner makes one. */
  takeTurn(turn: Turn): Promise<Exclude<LeaseResult, { kind: 'busy' }>>
  /**
   * Without the shared store every process obtains for itself. A random pause spreads these calls, unless a caller is in a hurry.
   *
   * @param chance Uniform in [0, 1).
   */
  spread(turn: Turn, chance: number): Promise<void>
}

/** What `OtherOwners` need to know of a renewal. */
export interface Turn {
  readonly account: {
    /** The mark of the credentials of this manager, as far as it is known. */
    credentialsDigest: string | undefined
    /** What the renewal waits for, for the error of a caller who gives up. */
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
  /** Makes one claim, with what the manager has seen by now. */
  ask(ttlMs: number, more: Pick<LeaseTerms, 'maxStalenessMs' | 'credentialsDigest'>): Promise<LeaseResult>
  readonly start: { isAwaited(): boolean }
  /** The instant at which the first caller gives up, monotonic ms. */
  readonly limit: number
}

/** The reports of a store to the manager that opened it: its `Events`, which tells each of them once a minute. Give no secret. */
export interface StoreReports {
  anomaly(kind: AnomalyKind, message: string): unknown
  storeUnavailable(message: string): unknown
}

/**
 * The tokens of one account, shared by all owners (managers, processes) that open its key. There is no lock. Owners claim
 * before an exchange and settle after it, in atomic, idempotent steps. A claim that expires unsettled leaves its refresh
 * token in doubt.
 */
export interface TokenRecord {
  /**
   * Asks to make one exchange.
   *
   * @param seenVersion The highest version this owner has seen.
   * @param ttlMs After this time an unsettled claim no longer blocks other owners.
   */
  acquire(owner: string, seenVersion: number, ttlMs: number, terms?: LeaseTerms): Promise<LeaseResult>
  /**
   * Asks, for a logout, that no other owner makes an exchange: only that keeps the claim from being granted. It presents nothing.
   *
   * @param ends The login that the owner ends.
   */
  acquireForLogout(owner: string, seenVersion: number, ttlMs: number, ends: EndTerms): Promise<LeaseResult>
  /**
   * Settles a claim with new tokens. Stores them, unless newer tokens or a `clear` came after the claim was granted.
   *
   * @param tokens Remaining lifetimes as of now.
   * @returns The newer tokens if there are some, else these.
   */
  accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens>
  /**
   * Settles a claim whose exchange failed. Changes nothing if the record no longer holds this claim.
   *
   * @param told What the owner reports; or decides it inside the step.
   */
  release(lease: Lease, told: Report | Decide): Promise<ReleaseResult>
  /**
   * Clears the record, and stores tokens that came from elsewhere. Changes nothing if the record knows their login by their refresh token.
   *
   * @param tokens Remaining lifetimes as of now.
   * @param isLogin Whether a login brought them. Then a shared store that cannot be written rejects, and never keeps them to this process.
   */
  adopt(seenVersion: number, tokens: NewTokens, isLogin?: boolean): Promise<AdoptedTokens>
  /**
   * Forgets tokens, claims and cool-downs. Earlier claims bring nothing any more. Versions keep growing.
   *
   * @param seenVersion The highest version this owner has seen.
   * @param ends The login that the owner ends. A record of another login stays. Undefined: of whatever login.
   * @returns The tokens of the other login that stays.
   */
  clear(seenVersion: number, ends?: KnownLogin): Promise<StoredTokens | undefined>
  /**
   * Tells an owner of a login, without a claim, what has become of it. Changes nothing.
   *
   * @param login The login that the owner has; undefined: it does not know the number.
   * @returns undefined if there is nothing that this owner has not seen.
   */
  check?(seenVersion: number, login?: number): Promise<CheckResult | undefined>
  /** The manager no longer uses the record. */
  close?(): void
  /**
   * Calls `onChange` when the record may have changed: a waiting owner then asks before its next poll.
   *
   * @returns stop; undefined if the store does not tell.
   */
  watch?(onChange: () => void): (() => void) | undefined
  /** Whether `watch` misses no change now. Absent: owners watch only while they wait. */
  isWatched?(): boolean
}

/** A stored pair. The store's own clock measures remaining lifetimes: two local clocks are never compared. */
export interface StoredTokens {
  readonly version: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessRemainingMs: number
  readonly refreshToken?: string
  readonly refreshRemainingMs?: number
  /** Until renewal is due, if the service or the end of the refresh token asks for it before the access token does. */
  readonly dueRemainingMs?: number
  /** The number of their login in the record. Absent in a private record. */
  readonly login?: number
  /** The fingerprint of the person who logged in. */
  readonly subject?: string
  /** Random: made for each login that is adopted, and kept by its renewals. */
  readonly loginId?: string
  /** What the source needs to refresh and revoke these tokens. */
  readonly context?: string
  /** The mark of the credentials that brought them. */
  readonly credentials?: string
  /** Of the refresh token, where a record computes it. */
  readonly fingerprint?: string | undefined
}

/** What an exchange or a login brought. Without an access token, `accessToken` is empty and has no lifetime left. */
export type NewTokens = Omit<StoredTokens, 'version' | 'login'>

/** Whether these are the same tokens, or one of both is. */
export function areSame(one: NewTokens, { accessToken, refreshToken }: NewTokens): boolean {
  const isSameAccess = accessToken !== '' && accessToken === one.accessToken
  return isSameAccess || (refreshToken !== undefined && refreshToken === one.refreshToken)
}

/** @returns The tokens, with remaining lifetimes that are shorter by `byMs`. */
export function aged<Tokens extends NewTokens>(tokens: Tokens, byMs: number): Tokens {
  const { accessRemainingMs, refreshRemainingMs, dueRemainingMs } = tokens
  return {
    ...tokens,
    accessRemainingMs: accessRemainingMs - byMs,
    ...(refreshRemainingMs !== undefined && { refreshRemainingMs: refreshRemainingMs - byMs }),
    ...(dueRemainingMs !== undefined && { dueRemainingMs: dueRemainingMs - byMs }),
  }
}

/** A login as an owner knows it. */
export interface KnownLogin {
  /** Its number in the record, if the record has told that. */
  readonly login?: number | undefined
  readonly loginId?: string | undefined
}

/**
 * Whether the record knows another login than the one that an owner has. After a loss of the record and a clock that was set back, the number and
 * the version of a later login may be lower than what the owner has seen.
 */
export function isOfOther(stored: { login: number; loginId?: string | undefined }, known: KnownLogin): boolean {
  const { login, loginId } = known
  if (loginId !== undefined && loginId === stored.loginId) return false
  return login === undefined ? loginId !== undefined : stored.login > 0 && stored.login !== login
}

/** What an owner asks for with a claim. It neither presents nor changes the pair of another login than this one. */
export interface LeaseTerms extends Pick<KnownLogin, 'login'> {
  /** How long the service accepts a used refresh token. Infinity: until the token expires. Default 0. */
  readonly graceMs?: number
  /** Whether the claim may be granted in a cool-down that is not firm. */
  readonly breaksCoolDown?: boolean
  /** Only a user can obtain. */
  readonly needsLogin?: boolean
  /** How a refresh token is presented that is in doubt for longer than the grace (R8, `Rules`). Absent: it is not presented. */
  readonly inDoubt?: ((doubtAt: number) => Pick<Lease, 'isLastResort' | 'isRestored'>) | undefined
  /** How long the owners of a login take at most until they look into the record, ms: after a loss they write back what they have seen. */
  readonly maxStalenessMs?: number
  /** That of the owner's credentials. Undefined: not known. */
  readonly credentialsDigest?: string | undefined
  readonly others?: Others
}

/** What an owner asks for before it logs out. */
export interface EndTerms extends KnownLogin {
  readonly others?: Others
}

/** What an owner of a shared record knows of the others. */
export interface Others {
  /** Exchanges that were made without the record may still be in flight. */
  readonly overlap?: boolean
  /** The name of an owner whose process has died in its exchange: its claim blocks nobody, and leaves its refresh token in doubt, not dead. */
  readonly dead?: string
  /** This owner has seen its own clock jump: time that nobody saw pass ends no claim, so each open claim counts in full. */
  readonly distrustsClock?: boolean
}

export type Missing = Extract<LoginReason, 'none-yet' | 'logged-out' | 'lost'>

/**
 * What stands in the record after a login. `known`: the record knows the refresh token, as the one with which a login began, or as one that a login has spent,
 * so nothing has changed. `same`: it is the login of the record, whose tokens these are. `replaced`: these are the tokens of the login that has replaced it.
 * `ended`: there are none.
 */
export interface AdoptedTokens extends StoredTokens {
  readonly known?: 'same' | 'replaced' | 'ended'
}

/** What an owner sees of its login without a claim. */
export type CheckResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  | { readonly kind: 'missing'; readonly missing: Missing }

export type LeaseResult =
  | { readonly kind: 'newer'; readonly tokens: StoredTokens }
  /** What is left of the cool-down. */
  | { readonly kind: 'cooling'; readonly coolDown: CoolDown }
  /** `by`: the owner that makes an exchange. Undefined while that owner makes a pause before its next exchange. */
  | { readonly kind: 'busy'; readonly remainingMs: number; readonly by?: string | undefined }
  | Lease

/** Goes back to the record as it was granted. A store may know it by its identity, so a copy would be another claim. */
export interface Lease {
  readonly kind: 'granted'
  readonly fence: number
  /** The version of the record when it granted the claim, with or without tokens. */
  readonly version: number
  /** The number of the login in the record at that time; 0: none. Absent in a private record. */
  readonly login?: number
  /** The epoch of the register at that time. */
  readonly epoch?: string
  readonly tokens?: StoredTokens
  /** The stored refresh token may be presented: it is neither retired, nor in doubt for longer than the service's grace. */
  readonly presentable: boolean
  /** The stored refresh token may have been spent before, and the answer was lost. */
  readonly isDoubted?: boolean
  /** Only of a login: because of this doubt, the refresh token may be presented only if no access token serves. */
  readonly isLastResort?: boolean
  /** Only of a login: the doubt comes from the store, which may have lost writes. */
  readonly isRestored?: boolean
  /** Only of a login: refusals that did not say what became of the refresh token. `sinceMs`: since the first of them. */
  readonly unclear?: { readonly says: string; readonly times: number; readonly sinceMs: number }
  /** Why there is no pair. */
  readonly missing?: Missing
  /** How often the refresh token was presented before and met a complete 5xx. */
  readonly presentations: number
  /** Renewals in a row that gave up, of all owners together. */
  readonly failures: number
  /** Another exchange of the account may have been in flight when the stored pair came. */
  readonly overlapped?: boolean
  /** The tokens belong to this owner alone, because the shared store cannot be used. */
  readonly isPrivate?: boolean
}

/**
 * What became of the refresh token. `keep`: not spent, or none was presented. `counted`: met a complete 5xx, presentable again
 * a few times. `doubtful`: may be spent. `dead`: the service refused it. A dead one is never presented again, a doubtful one only within the
 * service's grace: otherwise our own lost answer would look like theft. With a login it is presented again, if no access token serves. If the record has
 * a newer pair, this says nothing about that pair.
 */
export type RefreshTokenFate = 'keep' | 'counted' | 'doubtful' | 'dead'

export interface ReleaseResult {
  /** The stored tokens, if they are newer than those of the claim. */
  readonly newer?: StoredTokens
  /** Another exchange of the account may have been in flight: the record has granted another claim since, or the stored pair is `overlapped`. */
  readonly contested: boolean
}

/** The owner tries again after `ms`. The record keeps the claim for it until then, and `RESERVE_MS` longer. */
export interface Retry {
  readonly kind: 'retry'
  readonly ms: number
}
/** What follows an exchange that failed. */
export type Next = Retry | CoolDown
/** What an owner tells the record after an exchange that failed. */
export interface Report {
  readonly fate: RefreshTokenFate
  /** What follows, if that concerns the other owners, too. Without it any owner may claim next. */
  readonly shared?: Next | undefined
  /** The stored tokens are dropped: the access token must not be used any more, either. */
  readonly drops?: boolean
  /** Of a login: what an unclear refusal says. The record counts those in a row that say the same. */
  readonly says?: string | undefined
}
/** Decides what an owner tells the record, by what the record says. Pure: if another owner was faster, the step of the store asks again. */
export type Decide = (answer: ReleaseResult) => Report
/** Must exceed the time that the owner's next claim takes to reach the store. */
export const RESERVE_MS = 1_000

/** A renewal gave up: no owner calls the service for `ms`. Infinity: until `clear` or `adopt`. */
export interface CoolDown {
  readonly kind: 'cool-down'
  readonly ms: number
  /** Whether `renew()` must respect it, too: the service asked for it or refused the credentials, or a person must act. */
  readonly isFirm: boolean
  /** Renewals in a row that gave up. */
  readonly failures: number
  readonly code: TokenErrorCode
  readonly status?: number
  readonly serviceCode?: string
  /** Why a login is required. */
  readonly loginReason?: LoginReason
  /** The mark of the credentials that were refused. Owners with others may call. */
  readonly by?: string | undefined
}
