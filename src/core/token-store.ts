import type { Clock } from './clock.ts'
import type { AnomalyKind } from './events.ts'
import type {
  LeaseTerms,
  EndTerms,
  CheckResult,
  LeaseResult,
  Lease,
  ReleaseResult,
  Report,
  Decide,
  CoolDown,
} from './lease.ts'
import type { LoginReason, TokenError } from './errors.ts'
import type { Pauses } from './pauses.ts'
import type { Act } from './acts.ts'
import type { AdoptedTokens, Ending, NewTokens, StoredTokens } from './stored-tokens.ts'
import type { TokenSource } from './token-source.ts'

/** A store of tokens. Opaque: created by `memoryStore`, `sharedStore`, and the stores built on it. */
export interface TokenStore {
  readonly kind: string
}

/** A store as core sees it: one record per account, changed in atomic steps. */
export interface OpenableStore extends TokenStore {
  /** The store belongs to one user, like the storage of a browser. */
  readonly singleUser?: boolean
  /** No other store has its tokens. */
  readonly isLocal?: boolean
  /** Coordinates renewals with the other owners of a record. */
  readonly others: OtherOwners
  /** @param key A promise if the key includes what the tokens are bound to (`boundRecord`). */
  open(key: string | Promise<string>, clock: Clock, reports: StoreReports): TokenRecord
}

/** Coordinates renewals with the other owners of a record (`OTHER_OWNERS`). Without a store there are none. */
export interface OtherOwners {
  /**
   * Waits until no other owner makes an exchange, and the record grants this owner the lease or has usable tokens of another owner.
   *
   * @throws {CallFailed} If there is a cool-down, because another owner failed to renew.
   */
  takeTurn(turn: Turn): Promise<Extract<LeaseResult, { kind: 'newer' | 'granted' }>>
  /**
   * Spreads obtains with a random pause, unless a caller cannot wait. Without the shared store, every process obtains for itself.
   *
   * @param chance Uniform in [0, 1).
   */
  spread(turn: Turn, chance: number): Promise<void>
  /** @returns The error of an exchange. Under a private lease, `ERR_LOGIN_REQUIRED` becomes `ERR_STORE_UNAVAILABLE`: the store may hold a login. */
  errorIfPrivate(lease: Lease, error: TokenError): TokenError
}

/** A renewal as `OtherOwners` sees it. */
export interface Turn {
  readonly account: {
    /** The digest of this manager's credentials, if known. */
    credentialsDigest: string | undefined
    /** What the renewal waits for, for the error of a caller whose wait ends. */
    awaited: (() => string) | undefined
    readonly backoff: { readonly error: TokenError } | undefined
    readonly current: { readonly usableMs: number } | undefined
    readonly login:
      | {
          errorOfLoss(reason: LoginReason, failure: CoolDown): TokenError
          isOther(tokens: StoredTokens): boolean
          skipped(tokens: StoredTokens): void
        }
      | undefined
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
  readonly pauses: Pick<Pauses, 'check' | 'halted' | 'for' | 'end'>
  /** The highest version of the record that the renewal has seen. */
  seenVersion: number
  /** Whether the renewal may adopt these tokens of another owner. */
  mayAdopt(tokens: StoredTokens): boolean
  /** Tries once to acquire the lease. */
  tryAcquire(ttlMs: number, more: Pick<LeaseTerms, 'maxStalenessMs' | 'credentialsDigest'>): Promise<LeaseResult>
  readonly start: { isAwaited(): boolean }
  /** The earliest limit of a caller, monotonic ms. */
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
   * @param act The record keeps the tokens of a later act.
   * @param mustStore Whether a shared store that cannot write the tokens rejects, instead of keeping them in this process.
   */
  adopt(seenVersion: number, tokens: NewTokens, act: Act, mustStore?: boolean): Promise<AdoptedTokens>
  /**
   * Deletes tokens, leases and cool-downs. Earlier leases can no longer store tokens. Versions keep growing.
   *
   * @param seenVersion The highest version that this owner has seen.
   * @param ends The login that this owner ends. The record of another login is kept. Undefined: ends any login.
   * @returns The tokens of another login that was kept.
   */
  clear(seenVersion: number, ends?: Ending): Promise<StoredTokens | undefined>
  /**
   * Checks the state of a login without a lease. Changes nothing.
   *
   * @param login The number of the owner's login; undefined if unknown.
   * @returns Undefined if nothing is new to this owner.
   */
  check?(seenVersion: number, login?: number): Promise<CheckResult | undefined>
  /** Called when the manager no longer uses the record. */
  close?(): void
  /**
   * Calls `onChange` when the record may have changed, so that a waiting owner need not wait for its next poll.
   *
   * @returns A function that stops watching; undefined if the store does not report changes.
   */
  watch?(onChange: () => void): (() => void) | undefined
  /** Whether `watch` currently reports every change. Absent: owners watch only while they wait. */
  readonly isWatched?: (() => boolean) | undefined
}
