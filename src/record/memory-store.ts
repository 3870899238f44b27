import { type Act, isLater, type StoredAct } from '../core/acts.ts'
import { boundRecord } from './bound-record.ts'
import { type HeldLease, MemoryRecord } from '../core/memory-record.ts'
import { OTHER_OWNERS } from './other-owners.ts'
import type { Clock } from '../core/clock.ts'
import { continues, isOther } from './identity.ts'
import {
  type CheckResult,
  type CoolDown,
  type Decide,
  type Lease,
  type LeaseResult,
  type LeaseTerms,
  type Next,
  NO_TERMS,
  type ReleaseResult,
  type Report,
  RESERVE_MS,
} from '../core/lease.ts'
import {
  type AdoptedTokens,
  type Ending,
  type Identity,
  type NewTokens,
  NO_ENDING,
  type StoredTokens,
} from '../core/stored-tokens.ts'
import type { OpenableStore, TokenRecord, TokenStore } from '../core/token-store.ts'

/**
 * Keeps tokens in the memory of this process. Managers with the same store and the same key share their tokens. The store keeps the tokens of each
 * key for its own lifetime, so that a later manager finds them. Use no store for short-lived accounts.
 *
 * @example
 * ```ts
 * import { createTokenManager, memoryStore } from 'axios-evergreen'
 *
 * const store = memoryStore()
 * const tokens = createTokenManager({ source, store })
 * const others = createTokenManager({ source, store }) // has the same token
 * ```
 */
export function memoryStore(): TokenStore {
  const records = new Map<string, TokenRecord>()
  const store: OpenableStore = {
    kind: 'memory',
    isLocal: true,
    others: OTHER_OWNERS,
    open: (key, clock) =>
      boundRecord(key, (name) => {
        const record = records.get(name) ?? new SharedMemory(clock)
        records.set(name, record)
        return record
      }),
  }
  return Object.freeze(store)
}

/** How many spent refresh tokens of the current login are kept. Of all earlier logins together, twice as many are kept. */
const MOST_SPENT = 8

/**
 * The record of an account that several managers share. They have one clock, so few rules of `src/record` apply. It recognizes a login by the refresh
 * token with which the login began and by the refresh tokens that it spent (F348).
 */
class SharedMemory extends MemoryRecord {
  readonly #clock: Clock
  /** The last lease. `until` is monotonic: an exchange continues after the machine has slept. */
  #held: { readonly owner: string; readonly until: number } | undefined
  /** The last cool-down, which ends with the version that it follows. */
  #coolDown: { readonly coolDown: CoolDown; readonly until: number; readonly version: number } | undefined
  /** The refresh tokens of the current login: the first one and the latest ones. */
  #known: readonly string[] = []
  /** The refresh tokens of logins that ended or were replaced. */
  #past: readonly string[] = []
  /** The act of the last login. */
  #act: StoredAct | undefined

  constructor(clock: Clock) {
    super(clock)
    this.#clock = clock
  }

  override acquire(
    owner: string,
    seenVersion: number,
    ttlMs: number,
    terms: LeaseTerms = NO_TERMS,
  ): Promise<LeaseResult> {
    const tokens = this.#newer(seenVersion, terms)
    const coolDown = this.#cooling
    if (tokens) return Promise.resolve({ kind: 'newer', tokens })
    // The service rejected the credentials of another owner (F355).
    const digest = terms.credentialsDigest
    const isOfOthers = coolDown?.by !== undefined && digest !== undefined && coolDown.by !== digest
    if (coolDown && coolDown.ms > 0 && !isOfOthers && (coolDown.isFirm || !terms.breaksCoolDown))
      return Promise.resolve({ kind: 'cooling', coolDown })
    const granted = this.#busy(owner) ?? this.#grant(owner, ttlMs, terms)
    return Promise.resolve(isOfOthers ? { ...granted, failures: 0 } : granted)
  }

  #grant(owner: string, ttlMs: number, terms?: LeaseTerms): Lease {
    this.#held = { owner, until: this.#clock.monotonicNow() + ttlMs }
    return { ...this.granted(terms), failures: this.#cooling?.failures ?? 0 }
  }

  override acquireForLogout(owner = '', _seen?: number, ttlMs = 0, ends: Ending = NO_ENDING): Promise<LeaseResult> {
    const tokens = this.#kept(ends)
    if (tokens) return Promise.resolve({ kind: 'newer', tokens })
    // A logout does not wait while another owner pauses between two exchanges.
    const busy = this.lease?.settled ? undefined : this.#busy(owner)
    return Promise.resolve(busy ?? this.#grant(owner, ttlMs))
  }

  #busy(owner: string): LeaseResult | undefined {
    const held = this.#held
    if (!this.lease || !held || held.owner === owner) return undefined
    const remainingMs = held.until - this.#clock.monotonicNow()
    return remainingMs > 0 ? { kind: 'busy', remainingMs, by: undefined } : undefined
  }

  override release(lease: Lease, given: Report | Decide): Promise<ReleaseResult> {
    const held = this.lease?.fence === lease.fence ? this.lease : undefined
    const reports: Report[] = []
    // The step is synchronous, so the report exists when the call returns.
    const released = super.release(lease, (meanwhile) => {
      const report = typeof given === 'function' ? given(meanwhile) : given
      reports.push(report)
      return report
    })
    if (held) this.#follow(held, reports[0]?.shared)
    return released
  }

  #follow(lease: HeldLease, next: Next | undefined): void {
    if (next?.kind === 'retry') {
      this.lease = { ...lease, settled: true }
      this.#held &&= { ...this.#held, until: this.#clock.monotonicNow() + next.ms + RESERVE_MS }
    } else if (next) this.#coolDown = { coolDown: next, until: this.tokenClock.now() + next.ms, version: this.version }
  }

  /** The last cool-down, with its remaining time. */
  get #cooling(): CoolDown | undefined {
    if (this.#coolDown?.version !== this.version) return undefined
    const { coolDown, until } = this.#coolDown
    return { ...coolDown, ms: until - this.tokenClock.now() }
  }

  check(seenVersion: number, login?: number): Promise<CheckResult | undefined> {
    const tokens = this.#newer(seenVersion, { login })
    const coolDown = this.#cooling
    if (tokens) return Promise.resolve({ kind: 'newer', tokens })
    if (coolDown?.code === 'ERR_LOGIN_REQUIRED') return Promise.resolve({ kind: 'cooling', coolDown })
    return Promise.resolve(this.entry ? undefined : { kind: 'missing', missing: this.missing })
  }

  get #identity(): Identity {
    return { ...this.login, subject: this.entry?.tokens.subject }
  }

  /** The stored tokens, if an owner has not seen them. */
  #newer(seenVersion: number, known: Identity): StoredTokens | undefined {
    return this.version > seenVersion || isOther(known, this.#identity) ? this.stored : undefined
  }

  override async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const stored = await super.accept(lease, tokens)
    if (stored.version > lease.version) this.#note(stored.refreshToken)
    return stored
  }

  override adopt(seenVersion: number, tokens: NewTokens, act: Act): Promise<AdoptedTokens> {
    const { refreshToken = '' } = tokens
    const isCurrent = this.#known.includes(refreshToken)
    if (isCurrent ? continues(this.#identity, 'replaced', tokens) : this.#past.includes(refreshToken))
      return Promise.resolve(this.#recognized(tokens, isCurrent))
    if (this.#isSuperseded(act)) return Promise.resolve(this.#recognized(tokens, false))
    const stored = super.adopt(seenVersion, tokens, act)
    this.#act = { ...act, ms: 0, version: this.version }
    this.#end()
    this.#note(tokens.refreshToken)
    return stored
  }

  override clear(_seenVersion?: number, ends: Ending = NO_ENDING): Promise<StoredTokens | undefined> {
    const kept = this.#kept(ends)
    if (kept) return Promise.resolve(kept)
    this.#end()
    return super.clear()
  }

  /** The stored tokens, if an act does not end their login. */
  #kept(ends: Ending): StoredTokens | undefined {
    return isOther(ends, this.#identity) || this.#isSuperseded(ends.act) ? this.stored : undefined
  }

  /** Whether a later login is stored. */
  #isSuperseded(act: Act | undefined): boolean {
    return isLater(this.#act, act && { ...act, ms: 0, now: this.#clock.monotonicNow() })
  }

  #recognized(tokens: NewTokens, isCurrent: boolean): AdoptedTokens {
    const { stored, version } = this
    if (!stored) return { ...tokens, version, known: 'ended' }
    const { accessToken, accessRemainingMs, refreshToken } = tokens
    const isNewer = accessToken !== '' && accessRemainingMs > stored.accessRemainingMs
    if (!isCurrent || refreshToken !== stored.refreshToken || !isNewer || accessToken === stored.accessToken)
      return { ...stored, known: isCurrent ? 'same' : 'replaced' }
    return { ...this.#renewed(tokens, stored), known: 'same' }
  }

  /** Stores a newer access token for the same refresh token. */
  #renewed({ accessToken, accessLifetimeMs, accessRemainingMs }: NewTokens, stored: StoredTokens): StoredTokens {
    const { version: _, login: __, ...kept } = stored
    this.version += 1
    this.#coolDown &&= { ...this.#coolDown, version: this.version }
    const at = this.tokenClock.now()
    this.entry &&= { ...this.entry, at, tokens: { ...kept, accessToken, accessLifetimeMs, accessRemainingMs } }
    return this.stored ?? stored
  }

  #note(refreshToken: string | undefined): void {
    if (refreshToken === undefined || this.#known.includes(refreshToken)) return
    const [first, ...later] = [...this.#known, refreshToken]
    this.#known = [first, ...later.slice(-1 - MOST_SPENT)]
  }

  #end(): void {
    this.#past = [...this.#known, ...this.#past].slice(0, 2 * MOST_SPENT)
    this.#known = []
  }
}
