/** Whether no other act has begun since. */
export type IsLast = () => boolean

/**
 * The acts of callers on the login of a manager: `adopt`, `logout`, `reset`. An act changes the manager's state synchronously. Its work in the record
 * runs after that of earlier acts. A result that was requested before an act does not apply to the login after it.
 */
export class Acts {
  #count = 0
  #last: Promise<unknown> | undefined

  /** Begins an act. @param inRecord Its work in the record. */
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

  /** Whether an act has not completed its work in the record yet. */
  get arePending(): boolean {
    return this.#last !== undefined
  }

  /** Call it before an `await`. A result that arrives after the next act is about an earlier login. */
  noted(): IsLast {
    const count = this.#count
    return () => this.#count === count
  }

  /** Runs `work` when all acts so far have completed their work in the record: now, if none is pending. */
  after<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last ? this.#last.then(work) : work()
  }
}
