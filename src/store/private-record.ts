import type { Clock } from '../core/clock.ts'
import { MemoryRecord } from '../core/memory-record.ts'
import type { LeaseResult, Lease, NewTokens, StoredTokens, TokenRecord } from '../core/token-store.ts'
import type { UnreportedExchanges } from './unreported-exchanges.ts'

/** The record of one owner while the shared one cannot be used. Nobody else gets its tokens. */
export class PrivateRecord extends MemoryRecord {
  readonly #unreported: UnreportedExchanges
  /** Private tokens carry the version that this owner saw last, so that every pair that is shared later counts as newer. */
  #seen = 0
  /** Whether the shared record may be told of private exchanges. */
  isTold = true

  constructor(clock: Clock, unreported: UnreportedExchanges) {
    super(clock)
    this.#unreported = unreported
  }

  /** The tokens that this owner keeps. */
  get kept(): StoredTokens | undefined {
    return this.stored
  }

  override async acquire(...given: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    const [owner, seenVersion, ttlMs, terms] = given
    this.#seen = seenVersion
    // It has one login, and its own number for that.
    const answer = await super.acquire(owner, this.version, ttlMs, { ...terms, login: undefined })
    if (answer.kind !== 'granted') return answer
    if (this.isTold) this.#unreported.add()
    const tokens = answer.tokens && { tokens: this.#asSeen(answer.tokens) }
    // Every other process may obtain for itself meanwhile. At some services that ends the session of these tokens.
    return { ...answer, ...tokens, isPrivate: true, overlapped: true }
  }

  override async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    // Noted again: if others renewed twice while this exchange was in flight, the first note is gone.
    if (this.isTold) this.#unreported.add()
    return this.#asSeen(await super.accept(lease, tokens))
  }

  #asSeen({ login: _, ...tokens }: StoredTokens): StoredTokens {
    return { ...tokens, version: this.#seen }
  }
}
