import type { Clock } from './clock.ts'
import { doubted, type Fate, fateAfter, presentableIn } from './refresh-fate.ts'
import { TokenClock } from './token-clock.ts'
import type { Whole } from './whole.ts'
import {
  type Decide,
  type Lease,
  type LeaseResult,
  type LeaseTerms,
  type Missing,
  NO_TERMS,
  type ReleaseResult,
  type Report,
} from './lease.ts'
import { type AdoptedTokens, aged, type NewTokens, type StoredTokens } from './stored-tokens.ts'
import type { TokenRecord } from './token-store.ts'

/** The stored tokens and the state of their refresh token. */
export interface Entry extends Fate {
  readonly refreshToken: string | undefined
  /** The stored tokens, as they were at `at`. */
  readonly tokens: NewTokens
  readonly at: number
  /** Another exchange may have been in flight when these tokens were issued. */
  readonly overlapped: boolean
}

/** The lease for an exchange or, if `settled`, for a logout or a pause. */
export interface HeldLease {
  readonly fence: number
  readonly at: number
  readonly settled: boolean
}

/**
 * The tokens of one manager. A step is atomic because it awaits nothing. No reply is lost or late, no write is undone, and the manager itself knows its
 * cool-down, so few of the rules for records that processes share (`src/record`) apply. `memoryStore` adds the rules for several owners.
 */
export class MemoryRecord implements TokenRecord {
  protected readonly tokenClock: TokenClock
  /** Public for a private record: its only owner has seen every version. */
  version = 0
  protected login: { readonly login: number; readonly loginId: string | undefined } = { login: 0, loginId: undefined }
  protected entry: Entry | undefined
  protected lease: HeldLease | undefined
  #fence = 0
  /** An exchange that `clear` or `adopt` superseded may still be in flight. */
  #overlaps = false
  /** Failed renewals that ended with a 429. A success subtracts half a renewal, so that a fleet makes about three requests for two tokens (F417). */
  #throttled = 0

  constructor(clock: Clock) {
    this.tokenClock = new TokenClock(clock)
  }

  acquire(...[, , , terms = NO_TERMS]: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    return Promise.resolve(this.granted(terms))
  }

  acquireForLogout(): Promise<LeaseResult> {
    return Promise.resolve(this.granted())
  }

  /** Grants the lease. @param terms Undefined: the lease is for a logout, and presents nothing. */
  protected granted(terms?: LeaseTerms): Whole<Lease> {
    const now = this.tokenClock.now()
    // The lease was never released, so its owner may have presented the refresh token.
    if (this.lease?.settled === false) {
      this.#overlaps = true
      this.entry &&= doubted(this.entry, this.lease.at)
    }
    const { entry, version, login } = this
    const fence = (this.#fence += 1)
    // 0 means an unknown time.
    this.lease = { fence, at: now || Number.MIN_VALUE, settled: terms === undefined }
    return {
      kind: 'granted',
      fence,
      version,
      login: login.login,
      presentations: entry?.presentations ?? 0,
      failures: this.#throttled,
      overlapped: entry?.overlapped ?? false,
      ...presentableIn(entry, terms, now),
      tokens: entry && this.#tokensOf(entry),
      missing: entry ? undefined : this.missing,
      ...{ epoch: undefined, isPrivate: undefined, view: undefined },
    }
  }

  accept({ fence, version }: Lease, tokens: NewTokens): Promise<StoredTokens> {
    if (this.lease?.fence === fence) return Promise.resolve(this.#store(tokens))
    // At some services, each of two overlapping exchanges ends the session of the other.
    this.#overlaps ||= this.lease?.settled === false
    this.entry &&= { ...this.entry, overlapped: true }
    return Promise.resolve(this.stored ?? { ...tokens, version })
  }

  /** Stores the tokens of an exchange or a login. */
  #store({ loginId = this.login.loginId, ...tokens }: NewTokens): StoredTokens {
    const at = this.tokenClock.now()
    const { refreshToken } = tokens
    this.version += 1
    this.#throttled &&= this.#throttled - 0.5
    this.login = { ...this.login, loginId }
    this.entry = {
      ...{ refreshToken, tokens, at, overlapped: this.#overlaps, retired: false, presentations: 0 },
      ...{ doubtAt: undefined, unclear: undefined },
    }
    this.#overlaps = false
    this.lease = undefined
    return this.#tokensOf(this.entry)
  }

  release({ fence, version }: Lease, given: Report | Decide): Promise<ReleaseResult> {
    const { entry, lease, stored } = this
    const isCurrent = lease?.fence === fence
    const newer = this.version > version ? stored : undefined
    const result = { contested: !isCurrent || entry?.overlapped === true, newer }
    const report = typeof given === 'function' ? given(result) : given
    if (!isCurrent) return Promise.resolve(result)
    if (report.shared?.code === 'ERR_THROTTLED') this.#throttled = Math.min(report.shared.failures, 5)
    this.entry = report.drops ? undefined : entry && fateAfter(entry, lease, report, this.tokenClock.now())
    this.lease = undefined
    return Promise.resolve(result)
  }

  /** The stored tokens, with their current remaining lifetimes. */
  protected get stored(): StoredTokens | undefined {
    return this.entry && this.#tokensOf(this.entry)
  }

  adopt(...[, tokens]: Parameters<TokenRecord['adopt']>): Promise<AdoptedTokens> {
    const { subject } = tokens
    const isSameUser = subject !== undefined && subject === this.entry?.tokens.subject
    const { login } = this.login
    this.#clear()
    if (isSameUser) this.login = { login, loginId: undefined }
    return Promise.resolve(this.#store(tokens))
  }

  clear(): Promise<StoredTokens | undefined> {
    this.#clear()
    this.version += 1
    return Promise.resolve(undefined)
  }

  #clear(): void {
    this.#overlaps ||= this.lease?.settled === false
    this.login = { login: this.login.login + 1, loginId: undefined }
    this.entry = this.lease = undefined
  }

  protected get missing(): Missing {
    return this.login.login > 0 ? 'logged-out' : 'none-yet'
  }

  #tokensOf({ tokens, at }: Entry): AdoptedTokens {
    const { login, loginId } = this.login
    const stored = { ...tokens, version: this.version, login: login > 0 ? login : undefined, loginId, known: undefined }
    return aged(stored, this.tokenClock.now() - at)
  }
}
