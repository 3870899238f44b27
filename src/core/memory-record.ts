import type { Clock } from './clock.ts'
import { doubted, type Fate, fateAfter, presentableIn } from './refresh-fate.ts'
import { TokenClock } from './token-clock.ts'
import {
  type LeaseResult,
  type LeaseTerms,
  type CoolDown,
  type Decide,
  type Lease,
  type Missing,
  type Next,
  type ReleaseResult,
  type Report,
  RESERVE_MS,
} from './lease.ts'
import { type AdoptedTokens, aged, type NewTokens, type StoredTokens } from './stored-tokens.ts'
import type { TokenRecord } from './token-store.ts'

/** The stored tokens and the state of their refresh token. */
export interface Entry extends Fate {
  readonly refreshToken: string | undefined
  /** As they were at `at`. */
  readonly tokens: NewTokens
  readonly at: number
  /** Another exchange may have been in flight when these tokens were issued. */
  readonly overlapped: boolean
}

/** The lease of one owner: for its exchange or, if `settled`, for its pause before the next one. */
export interface HeldLease {
  readonly owner: string
  readonly fence: number
  readonly at: number
  /** Monotonic ms: an exchange continues after the machine has slept. */
  readonly until: number
  readonly settled: boolean
}

/**
 * The tokens of one manager. A step is atomic because it awaits nothing. No reply is lost or late, and no write is undone, so few of the rules for
 * records that processes share (`src/record`) apply. `memoryStore` adds the rules for several owners.
 */
export class MemoryRecord implements TokenRecord {
  protected readonly clock: Clock
  protected readonly tokenClock: TokenClock
  /** Public for a record with one owner, which has seen every version. */
  version = 0
  protected login: { readonly login: number; readonly loginId?: string | undefined } = { login: 0 }
  protected entry: Entry | undefined
  protected lease: HeldLease | undefined
  #coolDown: CoolDown | undefined
  #coolDownEnd = 0
  #fence = 0
  /** An exchange that `clear` or `adopt` superseded may still be in flight. */
  #overlaps = false

  constructor(clock: Clock) {
    this.clock = clock
    this.tokenClock = new TokenClock(clock)
  }

  acquire(owner: string, seenVersion: number, ttlMs: number, terms: LeaseTerms = {}): Promise<LeaseResult> {
    const { stored, cooling: coolDown } = this
    if (stored && stored.version > seenVersion) return Promise.resolve({ kind: 'newer', tokens: stored })
    if (coolDown && coolDown.ms > 0 && (coolDown.isFirm || !terms.breaksCoolDown))
      return Promise.resolve({ kind: 'cooling', coolDown })
    return Promise.resolve(this.busy?.(owner) ?? this.granted(owner, ttlMs, terms))
  }

  /** Returns the lease of another owner, if any. */
  protected busy?(owner: string): LeaseResult | undefined

  acquireForLogout(owner: string, _seenVersion: number, ttlMs: number): Promise<LeaseResult> {
    return Promise.resolve(this.granted(owner, ttlMs))
  }

  /** Grants the lease. @param terms Undefined: the lease is for a logout, and presents nothing. */
  protected granted(owner: string, ttlMs: number, terms?: LeaseTerms): Lease {
    const lease = this.lease
    const now = this.tokenClock.now()
    // The lease was never released, so its owner may have presented the refresh token.
    if (lease?.settled === false) {
      this.#overlaps = true
      this.entry &&= doubted(this.entry, lease.at)
    }
    const entry = this.entry
    const fence = (this.#fence += 1)
    const until = this.clock.monotonicNow() + ttlMs
    // 0 means an unknown time.
    this.lease = { owner, fence, at: now || Number.MIN_VALUE, until, settled: terms === undefined }
    return {
      kind: 'granted',
      fence,
      version: this.version,
      login: this.login.login,
      presentations: entry?.presentations ?? 0,
      failures: this.#coolDown?.failures ?? 0,
      overlapped: entry?.overlapped ?? false,
      ...presentableIn(entry, terms, now),
      ...(entry ? { tokens: this.#tokensOf(entry) } : { missing: this.missing }),
    }
  }

  accept({ fence, version }: Lease, tokens: NewTokens): Promise<StoredTokens> {
    if (this.lease?.fence === fence) return Promise.resolve(this.#store(tokens))
    // At some services, each of two overlapping exchanges ends the session of the other.
    this.#overlaps ||= this.lease?.settled === false
    this.entry &&= { ...this.entry, overlapped: true }
    return Promise.resolve(this.entry ? this.#tokensOf(this.entry) : { ...tokens, version })
  }

  /** Stores the tokens of an exchange or a login. */
  #store({ loginId = this.login.loginId, ...tokens }: NewTokens): StoredTokens {
    const at = this.tokenClock.now()
    const { refreshToken } = tokens
    this.version += 1
    this.login = { ...this.login, loginId }
    this.entry = { refreshToken, tokens, at, overlapped: this.#overlaps, retired: false, presentations: 0 }
    this.#overlaps = false
    this.lease = this.#coolDown = undefined
    return this.#tokensOf(this.entry)
  }

  release({ fence, version }: Lease, given: Report | Decide): Promise<ReleaseResult> {
    const entry = this.entry
    const lease = this.lease?.fence === fence ? this.lease : undefined
    const newer = entry && this.version > version ? this.#tokensOf(entry) : undefined
    const result = { contested: !lease || entry?.overlapped === true, ...(newer && { newer }) }
    const report = typeof given === 'function' ? given(result) : given
    if (!lease) return Promise.resolve(result)
    if (entry) this.entry = report.drops ? undefined : fateAfter(entry, lease, report, this.tokenClock.now())
    this.#applyNext(lease, report.shared)
    return Promise.resolve(result)
  }

  #applyNext(lease: HeldLease, next: Next | undefined): void {
    this.lease = undefined
    if (next?.kind === 'retry') {
      const until = this.clock.monotonicNow() + next.ms + RESERVE_MS
      this.lease = { ...lease, until, settled: true }
    } else if (next) {
      this.#coolDown = next
      this.#coolDownEnd = this.tokenClock.now() + next.ms
    }
  }

  /** The stored tokens, with their current remaining lifetimes. */
  protected get stored(): StoredTokens | undefined {
    return this.entry && this.#tokensOf(this.entry)
  }

  adopt(_seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const { subject } = tokens
    const isSameUser = subject !== undefined && subject === this.entry?.tokens.subject
    const before = this.login
    this.#clear()
    if (isSameUser) this.login = { login: before.login }
    return Promise.resolve(this.#store(tokens))
  }

  clear(): Promise<StoredTokens | undefined> {
    this.#clear()
    this.version += 1
    return Promise.resolve(undefined)
  }

  #clear(): void {
    this.#overlaps ||= this.lease?.settled === false
    this.login = { login: this.login.login + 1 }
    this.entry = this.lease = this.#coolDown = undefined
  }

  protected get missing(): Missing {
    return this.login.login > 0 ? 'logged-out' : 'none-yet'
  }

  /** The last cool-down, with its remaining time. */
  protected get cooling(): CoolDown | undefined {
    return this.#coolDown && { ...this.#coolDown, ms: this.#coolDownEnd - this.tokenClock.now() }
  }

  #tokensOf({ tokens, at }: Entry): StoredTokens {
    const { login, loginId } = this.login
    const numbered = { ...tokens, version: this.version, ...(login > 0 && { login }) }
    const stored = loginId === undefined ? numbered : { ...numbered, loginId }
    return aged(stored, this.tokenClock.now() - at)
  }
}
