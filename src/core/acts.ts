import type { Clock } from './clock.ts'

/** An act of an owner on its login: `adopt`, `logout` or `reset`. */
export interface Act {
  readonly owner: string
  /** The number of this act among those of its owner. */
  readonly n: number
  /** Ms of the owner's monotonic clock; in a `DatedAct`, of the record's clock. */
  readonly at: number
  /** The highest version of the record that its owner had seen. */
  readonly seenVersion: number
}

/** An act dated by the clock of the record. It happened between `at` and `at + ms`, because a reading of that clock takes time. */
export interface DatedAct extends Act {
  readonly ms: number
  /** When the act was dated. */
  readonly now: number
}

/** The act that stored the last login of the record. */
export interface StoredAct extends Pick<DatedAct, 'owner' | 'n' | 'at' | 'ms'> {
  /** The version of the record with this login. */
  readonly version: number
}

/**
 * Whether the stored act is later than an act that arrives now. Acts of one owner have the order of their calls, whatever the clocks say. An act is
 * later than everything that its owner had seen. Otherwise the times decide. If they are too close to tell apart, or the clock of the record was set
 * back, the act that arrives later wins.
 */
export function isLater(stored: StoredAct | undefined, act: DatedAct | undefined): boolean {
  if (!stored || !act) return false
  if (stored.owner === act.owner) return stored.n > act.n
  return stored.version > act.seenVersion && stored.at > act.at + act.ms && stored.at <= act.now
}

/** Whether no other act has begun since. */
export type IsLast = () => boolean

/**
 * The acts of callers on the login of a manager. An act changes the manager's state synchronously. Its work in the record runs after that of earlier acts. A
 * result that was requested before an act does not apply to the login after it.
 */
export class Acts {
  readonly #owner: string
  readonly #clock: Pick<Clock, 'monotonicNow'>
  #count = 0
  #last: Promise<unknown> | undefined

  constructor(owner: string, clock: Pick<Clock, 'monotonicNow'>) {
    this.#owner = owner
    this.#clock = clock
  }

  /** Begins an act. @param inRecord Its work in the record. */
  begin<Value>(seenVersion: number, inRecord: (act: Act, isLast: IsLast) => Promise<Value>): Promise<Value> {
    this.#count += 1
    const act = { owner: this.#owner, n: this.#count, at: this.#clock.monotonicNow(), seenVersion }
    const isLast = this.noted()
    const ended = this.after(() => inRecord(act, isLast))
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

  /** @returns Whether no act has begun since this call. Call it before an `await`: a result that arrives after the next act is about an earlier login. */
  noted(): IsLast {
    const count = this.#count
    return () => this.#count === count
  }

  /** Runs `work` when all acts so far have completed their work in the record: now, if none is pending. */
  after<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last ? this.#last.then(work) : work()
  }
}
