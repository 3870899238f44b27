import type { Clock } from '../core/clock.ts'
import { TokenClock } from '../core/token-clock.ts'
import type {
  ClaimAnswer,
  ClaimTerms,
  Decide,
  GrantedClaim,
  KnownLogin,
  Looked,
  NewTokens,
  Next,
  RefreshTokenFate,
  ReleaseAnswer,
  StoredTokens,
  TokenRecord,
} from '../core/token-store.ts'
import type { Change, RecordState } from './record-shape.ts'
import { accept, adopt, claim, clear, look, release } from './record-state.ts'

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
