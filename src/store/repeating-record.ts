import type { Act } from '../core/acts.ts'
import type { Clock } from '../core/clock.ts'
import { type EndTerms, type LeaseResult, type Lease, NO_TERMS } from '../core/lease.ts'
import {
  type AdoptedTokens,
  aged,
  type Ending,
  type NewTokens,
  NO_ENDING,
  type StoredTokens,
} from '../core/stored-tokens.ts'
import type { StoreReports, TokenRecord } from '../core/token-store.ts'
import { bare } from '../core/whole.ts'
import { PrivateRecord } from './private-record.ts'
import { SharedRecord } from './shared-record.ts'
import type { StoredStateSettings } from './stored-state.ts'
import { UnreportedExchanges } from './unreported-exchanges.ts'

/** A step that got no response. */
interface PendingStep {
  readonly what: 'renewal' | 'login' | 'logout'
  readonly repeat: (seenVersion: number) => Promise<StoredTokens | undefined>
  /** The act of the login, if it is unknown whether the store has that login. Kept for its logout. */
  readonly begun: Act | undefined
}

/**
 * The shared record. Before the next lease request or check, it repeats an `accept`, `adopt` or `clear` that had no response, because the manager
 * cannot repeat a login. If the store has executed that step, or something later, the repetition changes nothing.
 */
export class RepeatingRecord extends SharedRecord {
  readonly unreported: UnreportedExchanges
  /** Holds the tokens of a login until the store is known to have them. */
  readonly alone: PrivateRecord
  #pendingStep: PendingStep | undefined
  /** Resolves when the last `clear` or `adopt` has ended. Later steps must not overtake it. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: StoredStateSettings, key: string, clock: Clock, reports: StoreReports) {
    super(settings, key, clock, reports)
    this.unreported = new UnreportedExchanges(() => this.overlap(), clock)
    this.alone = new PrivateRecord(clock, this.unreported)
  }

  override acquire(...[owner, seenVersion, ttlMs, terms = NO_TERMS]: Parameters<TokenRecord['acquire']>) {
    return this.#leased(seenVersion, terms, (version, all) => super.acquire(owner, version, ttlMs, all))
  }

  override acquireForLogout(...[owner, seenVersion, ttlMs, ends]: Parameters<TokenRecord['acquireForLogout']>) {
    return this.#leased(seenVersion, ends, (version, all) => super.acquireForLogout(owner, version, ttlMs, all))
  }

  /** Requests a lease, after the pending step, and reports the exchanges that were made without the record. */
  async #leased<Terms extends EndTerms>(
    seenVersion: number,
    terms: Terms,
    acquire: (version: number, terms: Terms) => Promise<LeaseResult>,
  ): Promise<LeaseResult> {
    const version = await this.#repeated(seenVersion)
    const { pending: made } = this.unreported
    const result = await acquire(version, { ...terms, others: bare({ ...terms.others, overlap: made > 0 }) })
    if (result.kind === 'granted') this.unreported.confirm(made)
    return result
  }

  override accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const sinceMs = this.stopwatch()
    const step = () => super.accept(lease, aged(tokens, sinceMs()))
    const pendingStep: PendingStep = { what: 'renewal', repeat: step, begun: undefined }
    // An act after the lease takes precedence over these tokens.
    this.#pendingStep ??= pendingStep
    return this.#untilAnswered(pendingStep, step())
  }

  adopt(seenVersion: number, tokens: NewTokens, act: Act): Promise<AdoptedTokens> {
    const ageMs = this.stopwatch()
    const repeat = async (version: number) => {
      // This owner may have renewed the tokens without the record; or the login has ended.
      const { kept } = this.alone
      return kept ? this.adoptAs(act, version, kept, true) : this.endAgain(version, act, tokens.loginId)
    }
    void this.alone.adopt(this.alone.version, tokens, act)
    const first = () => this.adoptAs(act, seenVersion, aged(tokens, ageMs()))
    return this.#act({ what: 'login', repeat, begun: act }, first)
  }

  /** If the store may not have the login that ends, the logout also ends what that login would have replaced. */
  override clear(seenVersion: number, ends: Ending = NO_ENDING): Promise<StoredTokens | undefined> {
    void this.alone.clear()
    const { act } = ends
    const begun = this.#pendingStep?.begun
    const first = () => super.clear(seenVersion, ends)
    // A `clear` without an act, or without a login, is not repeated, because the repetition could end a later login.
    if (!act || (ends.login ?? ends.loginId) === undefined) return this.#act(undefined, first)
    const repeat = (version: number) => this.clearAgain(version, { ...ends, act }, begun)
    return this.#act({ what: 'logout', repeat, begun }, begun ? () => repeat(seenVersion) : first)
  }

  /** Repeats the pending step first: a login or logout that the store does not have yet must not look like the end, or the return, of a login. */
  override async check(seenVersion: number, login?: number) {
    return super.check(await this.#repeated(seenVersion), login)
  }

  /** Makes this act the only pending step. */
  #act<Result>(pendingStep: PendingStep | undefined, step: () => Promise<Result>): Promise<Result> {
    this.#pendingStep = pendingStep
    return this.#untilAnswered(pendingStep, this.#serialized(step))
  }

  /** Repeats the pending step, after all acts. @returns the highest version that this owner has seen then */
  #repeated(seenVersion: number): Promise<number> {
    return this.#serialized(async () => {
      const pendingStep = this.#pendingStep
      const stored = pendingStep && (await this.#untilAnswered(pendingStep, pendingStep.repeat(seenVersion)))
      // If the record already knew the login, what has become of it is news.
      return pendingStep?.what === 'login' && stored && (stored as AdoptedTokens).known === undefined
        ? stored.version
        : seenVersion
    })
  }

  /** Keeps the step pending until the store has responded. */
  async #untilAnswered<Result>(pendingStep: PendingStep | undefined, step: Promise<Result>): Promise<Result> {
    const result = await step
    if (this.#pendingStep !== pendingStep) return result
    this.#pendingStep = undefined
    // From now on, other owners may present the refresh token of this login.
    if (pendingStep?.what === 'login') void this.alone.clear()
    return result
  }

  /** Runs `clear`, `adopt` and repetitions one after another. A later lease request waits for them. */
  #serialized<Value>(step: () => Promise<Value>): Promise<Value> {
    const ended = this.#last.then(step)
    this.#last = ended.catch(() => undefined)
    return ended
  }
}
