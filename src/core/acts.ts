/** Whether no act has come since a question was asked. */
export type IsLast = () => boolean

/**
 * What a caller does to the login of a manager: `adopt`, `logout`, `reset`. An act changes what the manager knows at the call. What it asks of the
 * record runs after that of the acts before it. What was asked before an act says nothing about the login after it.
 */
export class Acts {
  #count = 0
  #last: Promise<unknown> | undefined

  /** Begins an act. @param inRecord What it asks of the record. */
  begin<Value>(inRecord: (isLast: IsLast) => Promise<Value>): Promise<Value> {
    this.#count += 1
    const isLast = this.noted()
    const ended = this.after(() => inRecord(isLast))
    const end = () => {
      if (this.#last === last) this.#last = undefined
    }
    const last = ended.then(end, end)
    this.#last = last
    return ended
  }

  /** Whether the record does not know of all acts yet. */
  get areUnderWay(): boolean {
    return this.#last !== undefined
  }

  /** For a question that is asked now: an answer that comes after the next act is about a login that has gone. */
  noted(): IsLast {
    const count = this.#count
    return () => this.#count === count
  }

  /** Runs `work` as soon as the record knows of all acts so far: now, if it does. */
  after<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last ? this.#last.then(work) : work()
  }
}
