import type { Which } from './login-course.ts'

/** A login or a logout at one place. */
interface Act {
  readonly at: Which
  /** The login that begins; undefined: a logout. */
  readonly login: string | undefined
  /** The login that callers there knew before. */
  readonly had: string | undefined
  readonly place: number
  /** Epoch ms. */
  readonly time: number
  endedAt?: number
}

/** By then the store has received an act, or counts as unreachable: longer than all steps of a login. */
const TOO_LATE_MS = 10_000

/** Which users have logged in and out where, in which order, and what must follow from it. */
export class LoginActs {
  readonly #acts: Act[] = []
  readonly #now: () => number
  #places = 0
  /** The store may receive an act too late, or never. Then only its clock decides which of two is later. */
  isUntold = false

  constructor(now: () => number) {
    this.#now = now
  }

  /** @param had The login whose token the manager returned last. @returns a function that records the success of the act */
  begins(at: Which, login: string | undefined, had: string | undefined): () => void {
    const act: Act = { at, login, had, place: ++this.#places, time: this.#now() }
    this.#acts.push(act)
    return () => void (act.endedAt = ++this.#places)
  }

  /** The number of acts at one place. */
  countAt(at: Which): number {
    return this.#acts.filter((act) => act.at === at).length
  }

  /** Whether the manager there may have the tokens of a login after the last act: its own, or that of a later login elsewhere. */
  mayHave(at: Which, login: string): boolean {
    const last = this.#lastAt(at)
    const began = this.#acts.filter((act) => act.login === login)
    return !last || began.length === 0 || began.some((act) => this.#maySurvive(act, last))
  }

  /** Whether a login may still exist after the last act of one place. */
  #maySurvive(began: Act, last: Act): boolean {
    if (began === last) return true
    if (began.at !== last.at && !this.#isBefore(began, last)) return true
    // A user may log out before the manager has noticed a login elsewhere: that login stays. If the same user has logged in there, it is another login
    // only if another user's may have been between the two.
    const { login } = began
    const own = this.#acts.findLast((act) => act.at === last.at && act.login === login)?.place ?? 0
    const isBetween = (act: Act) => act.login !== login && act.place < began.place && !((act.endedAt ?? Infinity) < own)
    const isOther = last.had !== login || this.#acts.some(isBetween)
    return last.login === undefined && began.at !== last.at && isOther
  }

  /** The last login that the manager there began, if there was no act since, and earlier acts have ended. */
  keptAt(at: Which): string | undefined {
    const last = this.#lastAt(at)
    const others = this.#acts.filter((act) => act.at !== at)
    return last && others.every((act) => this.#isBefore(act, last)) ? last.login : undefined
  }

  /** Whether an act ended before one elsewhere began. */
  #isBefore({ endedAt = Infinity, time }: Act, later: Act): boolean {
    return endedAt < later.place && (!this.isUntold || time + TOO_LATE_MS < later.time)
  }

  #lastAt(at: Which): Act | undefined {
    return this.#acts.findLast((act) => act.at === at)
  }
}
