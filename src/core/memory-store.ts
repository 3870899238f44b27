import { boundRecord } from './bound-record.ts'
import { MemoryRecord } from './memory-record.ts'
import { OTHER_OWNERS } from './other-owners.ts'
import type {
  AdoptedTokens,
  Lease,
  KnownLogin,
  NewTokens,
  OpenableStore,
  StoredTokens,
  TokenRecord,
  TokenStore,
} from './token-store.ts'

/**
 * Keeps tokens in the memory of this process. Managers with the same store and the same key share their tokens. The store keeps the tokens of
 * each key as long as it lives, so that a later manager finds them: use no store for accounts that come and go.
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

/** So many refresh tokens that a login has spent are known, and twice as many of earlier logins. */
const MOST_SPENT = 8

/** What managers share. It knows their logins by the refresh tokens with which they began, and those that they have spent (F348). */
class SharedMemory extends MemoryRecord {
  /** Of the login of now: the first one, and the last ones. */
  #known: readonly string[] = []
  /** Of logins that have ended, or were replaced. */
  #past: readonly string[] = []

  override async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const stored = await super.accept(lease, tokens)
    if (stored.version > lease.version) this.#note(stored.refreshToken)
    return stored
  }

  override adopt(seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const { refreshToken = '', subject } = tokens
    const isThis = this.#known.includes(refreshToken)
    const { subject: before = subject } = this.stored ?? {}
    const isOtherUser = subject !== undefined && subject !== before
    if (isThis ? !isOtherUser : this.#past.includes(refreshToken)) return Promise.resolve(this.#joined(tokens, isThis))
    const stored = super.adopt(seenVersion, tokens)
    this.#end()
    this.#note(tokens.refreshToken)
    return stored
  }

  override async clear(seenVersion: number, ends?: KnownLogin): Promise<StoredTokens | undefined> {
    const other = super.clear(seenVersion, ends)
    if (!this.stored) this.#end()
    return other
  }

  #joined(tokens: NewTokens, isThis: boolean): AdoptedTokens {
    const { stored, version } = this
    if (!stored) return { ...tokens, version, known: 'ended' }
    const { accessToken, accessRemainingMs, refreshToken } = tokens
    const isNewer = accessToken !== '' && accessRemainingMs > stored.accessRemainingMs
    if (!isThis || refreshToken !== stored.refreshToken || !isNewer || accessToken === stored.accessToken)
      return { ...stored, known: isThis ? 'same' : 'replaced' }
    return { ...(this.renewed(tokens) ?? stored), known: 'same' }
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
