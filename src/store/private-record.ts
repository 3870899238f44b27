import type { Clock } from '../core/clock.ts'
import { MemoryRecord } from '../core/memory-record.ts'
import type { LeaseResult, Lease } from '../core/lease.ts'
import type { NewTokens, StoredTokens } from '../core/stored-tokens.ts'
import type { TokenRecord } from '../core/token-store.ts'
import type { UnreportedExchanges } from './unreported-exchanges.ts'

/** The record of one owner while the shared record is unavailable. No other owner gets its tokens. */
export class PrivateRecord extends MemoryRecord {
  readonly #unreported: UnreportedExchanges
  /** The last version that this owner has seen. Private tokens carry it, so that all tokens shared later count as newer. */
  #seen = 0
  /** Whether private exchanges are reported to the shared record. */
  reportsExchanges = true

  constructor(clock: Clock, unreported: UnreportedExchanges) {
    super(clock)
    this.#unreported = unreported
  }

  /** The tokens that this owner keeps, and what it knows of their refresh token. */
  get kept(): NewTokens | undefined {
    const { entry, stored } = this
    const doubtAt = entry?.doubtAt
    return stored && { ...stored, retired: entry?.retired, doubtMs: doubtAt && this.tokenClock.now() - doubtAt }
  }

  override async acquire(...given: Parameters<TokenRecord['acquire']>): Promise<LeaseResult> {
    const [owner, seenVersion, ttlMs, terms] = given
    this.#seen = seenVersion
    // A private record has a single login, with its own number.
    const result = await super.acquire(owner, this.version, ttlMs, { ...terms, login: undefined })
    if (result.kind !== 'granted') return result
    if (this.reportsExchanges) this.#unreported.add()
    const tokens = result.tokens && { tokens: this.#asSeen(result.tokens) }
    // Meanwhile, other processes may obtain tokens too. At some services, that ends the session of these tokens.
    return { ...result, ...tokens, isPrivate: true, overlapped: true }
  }

  override async accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    // Reported again: if others renewed twice while this exchange was in flight, the record no longer has the first report.
    if (this.reportsExchanges) this.#unreported.add()
    return this.#asSeen(await super.accept(lease, tokens))
  }

  #asSeen({ login: _, ...tokens }: StoredTokens): StoredTokens {
    return { ...tokens, version: this.#seen }
  }
}
