import type { Which } from './login-course.ts'

/** A login or a logout at one place. */
interface Act {
  readonly at: Which
  /** The login that begins; undefined: a logout. */
  readonly login: string | undefined
  /** The login that callers there knew before. */
  readonly had: string | undefined
  readonly place: number
  endedAt?: number
}

/** Who has logged in and out where, in which order, and what must follow from it. */
export class LoginActs {
  readonly #acts: Act[] = []
  #places = 0

  /** @param had The login whose token the manager gave last. @returns notes that the act has ended well */
  begins(at: Which, login: string | undefined, had: string | undefined): () => void {
    const act: Act = { at, login, had, place: ++this.#places }
    this.#acts.push(act)
    return () => void (act.endedAt = ++this.#places)
  }

  /** How many acts there were at one place. */
  countAt(at: Which): number {
    return this.#acts.filter((act) => act.at === at).length
  }

  /** Whether the manager there may have the tokens of a login after what was done last: its own, or that of a later login elsewhere. */
  mayHave(at: Which, login: string): boolean {
    const last = this.#lastAt(at)
    const began = this.#acts.findLast((act) => act.login === login)
    if (!last || !began || began === last) return true
    const isEarlier = began.at === at || (began.endedAt !== undefined && began.endedAt < last.place)
    // Somebody may log out before the manager has heard of a login elsewhere: that login stays.
    return !isEarlier || (last.login === undefined && began.at !== at && last.had !== login)
  }

  /** The login that the manager there began last, if nobody has done anything since, and what was done before has ended. */
  keptAt(at: Which): string | undefined {
    const last = this.#lastAt(at)
    const others = this.#acts.filter((act) => act.at !== at)
    const areOver = others.every(({ endedAt }) => endedAt !== undefined && endedAt < (last?.place ?? 0))
    return areOver ? last?.login : undefined
  }

  #lastAt(at: Which): Act | undefined {
    return this.#acts.findLast((act) => act.at === at)
  }
}
