import type { Clock } from '../core/clock.ts'
import type { PastAct } from '../record/repeated-acts.ts'
import {
  type AdoptedTokens,
  aged,
  type ClaimAnswer,
  type GrantedClaim,
  type KnownLogin,
  type NewTokens,
  type StoredTokens,
  type StoreReports,
  type TokenRecord,
} from '../core/token-store.ts'
import { PrivateRecord } from './private-record.ts'
import { SharedRecord } from './shared-record.ts'
import type { SharedSettings } from './stored-state.ts'
import { Untold } from './untold.ts'

/** A step whose answer is missing. */
interface Owed {
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
  readonly untold: Untold
  /** Has the tokens of a login as long as the store may not have them. */
  readonly alone: PrivateRecord
  #owed: Owed | undefined
  /** Resolves when the last `clear` or `adopt` has ended. Later steps must not overtake that one. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(settings: SharedSettings, key: string, clock: Clock, reports: StoreReports) {
    super(settings, key, clock, reports)
    this.untold = new Untold(() => this.overlap(), clock)
    this.alone = new PrivateRecord(clock, this.untold)
  }

  override async claim(...[owner, seenVersion, ttlMs, terms]: Parameters<TokenRecord['claim']>): Promise<ClaimAnswer> {
    const version = await this.#repeated(seenVersion)
    const { owed } = this.untold
    const answer = await super.claim(owner, version, ttlMs, {
      ...terms,
      others: { ...terms?.others, overlap: owed > 0 },
    })
    if (answer.kind === 'granted') this.untold.know(owed)
    return answer
  }

  override async claimToEnd(...[owner, seenVersion, ttlMs, ends]: Parameters<TokenRecord['claimToEnd']>) {
    const version = await this.#repeated(seenVersion)
    const { owed } = this.untold
    const answer = await super.claimToEnd(owner, version, ttlMs, {
      ...ends,
      others: { ...ends.others, overlap: owed > 0 },
    })
    if (answer.kind === 'granted') this.untold.know(owed)
    return answer
  }

  override accept(claim: GrantedClaim, tokens: NewTokens): Promise<StoredTokens> {
    const sinceMs = this.stopwatch()
    const step = () => super.accept(claim, aged(tokens, sinceMs()))
    const owed: Owed = { what: 'renewal', repeat: step }
    // If the login of these tokens has ended, nobody wants them.
    if (this.#owed?.what !== 'logout') this.#owed = owed
    return this.#answered(owed, step())
  }

  override adopt(seenVersion: number, tokens: NewTokens): Promise<AdoptedTokens> {
    const begun = this.actNow(seenVersion, true)
    const ageMs = this.stopwatch()
    const repeat = async (version: number) => {
      // This owner may have renewed them alone.
      const kept = await this.alone.look(0)
      return kept?.kind === 'newer' ? super.adopt(version, kept.tokens, begun, true) : undefined
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
    void this.alone.clear(this.alone.version)
    // Not repeated: it could end a later login.
    if ((ends.login ?? ends.loginId) === undefined) return this.#act(undefined, () => super.clear(seenVersion))
    const owed = this.#owed
    // Whoever has no login ends none. The logout before it is still owed.
    if (ends.login === 0 && owed?.what === 'logout') return this.#act(owed, () => owed.repeat(seenVersion))
    const begun = owed?.begun
    const act = begun ?? this.actNow(seenVersion)
    const repeat = (version: number) => super.clear(version, ends, act())
    const first = () => (begun ? repeat(seenVersion) : super.clear(seenVersion, ends))
    return this.#act({ what: 'logout', repeat, begun }, first)
  }

  /** A login or a logout that the store does not know yet must not look like the end, or the return, of a login. */
  override async look(seenVersion: number, login?: number) {
    return super.look(await this.#repeated(seenVersion), login)
  }

  /** From now on only this act is owed. */
  #act<Answer>(owed: Owed | undefined, step: () => Promise<Answer>): Promise<Answer> {
    this.#owed = owed
    return this.#answered(owed, this.#serialized(step))
  }

  /** Repeats what is owed, after all acts. @returns the highest version that this owner has seen then */
  #repeated(seenVersion: number): Promise<number> {
    return this.#serialized(async () => {
      const owed = this.#owed
      const stored = owed && (await this.#answered(owed, owed.repeat(seenVersion)))
      // What has become of a login that the record knew already is news.
      return owed?.what === 'login' && stored && !('known' in stored) ? stored.version : seenVersion
    })
  }

  /** Until the store has answered, the step is owed. */
  async #answered<Answer>(owed: Owed | undefined, answer: Promise<Answer>): Promise<Answer> {
    const answered = await answer
    if (this.#owed !== owed) return answered
    this.#owed = undefined
    // From now on other owners may present the refresh token of this login.
    if (owed?.what === 'login') void this.alone.clear(this.alone.version)
    return answered
  }

  /** Runs `clear`, `adopt` and what is repeated one after another. A later claim waits for them. */
  #serialized<Value>(step: () => Promise<Value>): Promise<Value> {
    const ended = this.#last.then(step)
    this.#last = ended.catch(() => undefined)
    return ended
  }
}
