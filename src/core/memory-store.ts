import type { Clock } from './clock.ts'
import type { Change, RecordState } from './record-shape.ts'
import { accept, adopt, claim, clear, look, release } from './record-state.ts'
import { TokenClock } from './token-clock.ts'
import type {
  ClaimAnswer,
  ClaimTerms,
  Decide,
  GrantedClaim,
  KnownLogin,
  Looked,
  NewTokens,
  Next,
  OpenableStore,
  RefreshTokenFate,
  ReleaseAnswer,
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
    open(key, clock) {
      const record = records.get(key) ?? new MemoryRecord(clock)
      records.set(key, record)
      return record
    },
  }
  return Object.freeze(store)
}

/** The rules of `record-state.ts` on a state in memory. Each step is atomic because nothing is awaited inside it. */
export class MemoryRecord implements TokenRecord {
  readonly #clock: TokenClock
  #state: RecordState | undefined

  constructor(clock: Clock) {
    this.#clock = new TokenClock(clock)
  }

  claim(owner: string, seenVersion: number, ttlMs: number, terms?: ClaimTerms): Promise<ClaimAnswer> {
    return this.#after(claim(this.#state, { ...terms, owner, seenVersion, ttlMs }, this.#reading))
  }

  async accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    const stored = await this.#after(accept(this.#state, claim, tokens, this.#reading))
    return stored ?? { ...tokens, version: claim.version }
  }

  release(claim: GrantedClaim, told: RefreshTokenFate | Decide, next?: Next): Promise<ReleaseAnswer> {
    return this.#after(release(this.#state, claim, told, next, this.#reading))
  }

  adopt(seenVersion: number, tokens: NewTokens): Promise<StoredTokens> {
    return this.#after(adopt(this.#state, seenVersion, tokens, this.#reading))
  }

  clear(seenVersion: number, ends?: KnownLogin): Promise<StoredTokens | undefined> {
    return this.#after(clear(this.#state, { ...ends, seenVersion }, this.#reading))
  }

  look(seenVersion: number, login?: number): Promise<Looked | undefined> {
    return this.#after(look(this.#state, { seenVersion, login }, this.#reading))
  }

  /** For a record of one owner, who has seen each version. */
  get version(): number {
    return this.#state?.version ?? 0
  }

  get #reading(): { readonly now: number } {
    return { now: this.#clock.now() }
  }

  #after<Answer>({ state, answer }: Change<Answer>): Promise<Answer> {
    if (state) this.#state = state
    return Promise.resolve(answer)
  }
}
