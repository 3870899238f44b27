import { boundRecord } from './bound-record.ts'
import { MemoryRecord } from './memory-record.ts'
import { OTHER_OWNERS } from './other-owners.ts'
import type { CheckResult, Lease, LeaseResult, LeaseTerms } from './lease.ts'
import { type AdoptedTokens, isOfOther, type KnownLogin, type NewTokens, type StoredTokens } from './stored-tokens.ts'
import type { OpenableStore, TokenRecord, TokenStore } from './token-store.ts'

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

/** How many spent refresh tokens of the current login are kept. Of earlier logins, twice as many are kept. */
const MOST_SPENT = 8

/**
 * The record of an account that several managers share. They have one clock, so few rules of `src/record` apply. It recognizes a login by the refresh
 * token with which the login began and by the refresh tokens that it spent (F348).
 */
class SharedMemory extends MemoryRecord {
  /** The refresh tokens of the current login: the first and the latest. */
  #known: readonly string[] = []
  /** The refresh tokens of logins that ended or were replaced. */
  #past: readonly string[] = []

  override acquire(owner: string, seenVersion: number, ttlMs: number, terms: LeaseTerms = {}): Promise<LeaseResult> {
    const seen = isOfOther(this.login, terms) ? -1 : seenVersion
    const by = this.cooling?.by
    const isNewer = this.stored !== undefined && this.version > seen
    // The service rejected the credentials of another owner (F355).
    if (by === undefined || terms.credentialsDigest === undefined || by === terms.credentialsDigest || isNewer)
      return super.acquire(owner, seen, ttlMs, terms)
    return Promise.resolve(this.busy(owner) ?? { ...this.granted(owner, ttlMs, terms), failures: 0 })
  }

  override acquireForLogout(owner: string, seen: number, ttlMs: number, ends: KnownLogin = {}): Promise<LeaseResult> {
    const { stored } = this
    if (stored && isOfOther(this.login, ends)) return Promise.resolve({ kind: 'newer', tokens: stored })
    // A logout does not wait while another owner pauses between two exchanges.
    const busy = this.lease?.settled ? undefined : this.busy(owner)
    return busy ? Promise.resolve(busy) : super.acquireForLogout(owner, seen, ttlMs)
  }

  protected override busy(owner: string): LeaseResult | undefined {
    if (!this.lease || this.lease.owner === owner) return undefined
    const remainingMs = this.lease.until - this.clock.monotonicNow()
    return remainingMs > 0 ? { kind: 'busy', remainingMs } : undefined
  }

  check(seenVersion: number, login?: number): Promise<CheckResult | undefined> {
    const { stored: tokens, cooling: coolDown, missing } = this
    if (tokens && (this.version > seenVersion || isOfOther(this.login, { login })))
      return Promise.resolve({ kind: 'newer', tokens })
    if (coolDown?.code === 'ERR_LOGIN_REQUIRED') return Promise.resolve({ kind: 'cooling', coolDown })
    return Promise.resolve(tokens ? undefined : { kind: 'missing', missing })
  }

  override async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const stored = await super.accept(lease, tokens)
    if (stored.version > lease.version) this.#note(stored.refreshToken)
    return stored
  }

  override adopt(seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const { refreshToken = '', subject } = tokens
    const isCurrent = this.#known.includes(refreshToken)
    const { subject: before = subject } = this.stored ?? {}
    const isOtherUser = subject !== undefined && subject !== before
    if (isCurrent ? !isOtherUser : this.#past.includes(refreshToken))
      return Promise.resolve(this.#recognized(tokens, isCurrent))
    const stored = super.adopt(seenVersion, tokens)
    this.#end()
    this.#note(tokens.refreshToken)
    return stored
  }

  override clear(_seenVersion?: number, ends: KnownLogin = {}): Promise<StoredTokens | undefined> {
    const { stored } = this
    if (stored && isOfOther(this.login, ends)) return Promise.resolve(stored)
    this.#end()
    return super.clear()
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
