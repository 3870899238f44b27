import type { Clock } from '../core/clock.ts'
import type { PastAct } from '../record/repeated-acts.ts'
import {
  type AdoptedTokens,
  aged,
  type LeaseResult,
  type Lease,
  type KnownLogin,
  type NewTokens,
  type StoredTokens,
  type StoreReports,
  type TokenRecord,
} from '../core/token-store.ts'
import { PrivateRecord } from './private-record.ts'
import { SharedRecord } from './shared-record.ts'
import type { SharedSettings } from './stored-state.ts'
import { UnreportedExchanges } from './unreported-exchanges.ts'

/** A step whose answer is missing. */
interface PendingStep {
  readonly what: 'renewal' | 'login' | 'logout'
  readonly repeat: (seenVersion: number) => Promise<StoredTokens | undefined>
  /** Of a login that the store may not know: when it was. Kept for its logout. */
  readonly begun?: (() => PastAct) | undefined
}

/**
 * The shared record. Before the next claim or look it repeats an `accept`, `adopt` or `clear` that had no answer, because a login cannot be made again.
 * If the store has executed that step, or something later, the repetition changes nothing.
 */
export class RepeatingRecord extends SharedRecord {
  readonly unreported: UnreportedExchanges
  /** Has the tokens of a login as long as the store may not have them. */
  readonly alone: PrivateRecord
  #pendingStep: PendingStep | undefined
  /** Resolves when the last `clear` or `adopt` has ended. Later steps must not overtake that one. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: SharedSettings, key: string, clock: Clock, reports: StoreReports) {
    super(settings, key, clock, reports)
    this.unreported = new UnreportedExchanges(() => this.overlap(), clock)
    this.alone = new PrivateRecord(clock, this.unreported)
  }

  override async acquire(
    ...[owner, seenVersion, ttlMs, terms]: Parameters<TokenRecord['acquire']>
  ): Promise<LeaseResult> {
    const version = await this.#repeated(seenVersion)
    const { pending: pendingStep } = this.unreported
    const answer = await super.acquire(owner, version, ttlMs, {
      ...terms,
      others: { ...terms?.others, overlap: pendingStep > 0 },
    })
    if (answer.kind === 'granted') this.unreported.confirm(pendingStep)
    return answer
  }

  override async acquireForLogout(...[owner, seenVersion, ttlMs, ends]: Parameters<TokenRecord['acquireForLogout']>) {
    const version = await this.#repeated(seenVersion)
    const { pending: pendingStep } = this.unreported
    const answer = await super.acquireForLogout(owner, version, ttlMs, {
      ...ends,
      others: { ...ends.others, overlap: pendingStep > 0 },
    })
    if (answer.kind === 'granted') this.unreported.confirm(pendingStep)
    return answer
  }

  override accept(lease: Lease, tokens: NewTokens): Promise<StoredTokens> {
    const sinceMs = this.stopwatch()
    const step = () => super.accept(lease, aged(tokens, sinceMs()))
    const pendingStep: PendingStep = { what: 'renewal', repeat: step }
    // If the login of these tokens has ended, nobody wants them.
    if (this.#pendingStep?.what !== 'logout') this.#pendingStep = pendingStep
    return this.#answered(pendingStep, step())
  }

  override adopt(seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const begun = this.actNow(seenVersion, true)
    const ageMs = this.stopwatch()
    const repeat = async (version: number) => {
      // This owner may have renewed them alone.
      const { kept } = this.alone
      return kept && super.adopt(version, kept, begun, true)
    }
    void this.alone.adopt(this.alone.version, tokens)
    const first = () => {
      // What this owner has done before has reached the store by now, or never will.
      begun()
      return super.adopt(seenVersion, aged(tokens, ageMs()), begun)
    }
    return this.#act({ what: 'login', repeat, begun }, first)
  }

  /** The logout of a login that the store may not know ends what that login would have replaced, too. */
  override clear(seenVersion: number, ends: KnownLogin = {}): Promise<StoredTokens | undefined> {
    void this.alone.clear()
    // Not repeated: it could end a later login.
    if ((ends.login ?? ends.loginId) === undefined) return this.#act(undefined, () => super.clear(seenVersion))
    const pendingStep = this.#pendingStep
    const begun = pendingStep?.begun
    const act = begun ?? this.actNow(seenVersion)
    const repeat = (version: number) => super.clear(version, ends, act())
    const first = () => (begun ? repeat(seenVersion) : super.clear(seenVersion, ends))
    return this.#act({ what: 'logout', repeat, begun }, first)
  }

  /** A login or a logout that the store does not know yet must not look like the end, or the return, of a login. */
  override async check(seenVersion: number, login?: number) {
    return super.check(await this.#repeated(seenVersion), login)
  }

  /** From now on only this act is owed. */
  #act<Answer>(pendingStep: PendingStep | undefined, step: () => Promise<Answer>): Promise<Answer> {
    this.#pendingStep = pendingStep
    return this.#answered(pendingStep, this.#serialized(step))
  }

  /** Repeats what is owed, after all acts. @returns the highest version that this owner has seen then */
  #repeated(seenVersion: number): Promise<number> {
    return this.#serialized(async () => {
      const pendingStep = this.#pendingStep
      const stored = pendingStep && (await this.#answered(pendingStep, pendingStep.repeat(seenVersion)))
      // What has become of a login that the record knew already is news.
      return pendingStep?.what === 'login' && stored && !('known' in stored) ? stored.version : seenVersion
    })
  }

  /** Until the store has answered, the step is owed. */
  async #answered<Answer>(pendingStep: PendingStep | undefined, answer: Promise<Answer>): Promise<Answer> {
    const answered = await answer
    if (this.#pendingStep !== pendingStep) return answered
    this.#pendingStep = undefined
    // From now on other owners may present the refresh token of this login.
    if (pendingStep?.what === 'login') void this.alone.clear()
    return answered
  }

  /** Runs `clear`, `adopt` and what is repeated one after another. A later claim waits for them. */
  #serialized<Value>(step: () => Promise<Value>): Promise<Value> {
    const ended = this.#last.then(step)
    this.#last = ended.catch(() => undefined)
    return ended
  }
}
