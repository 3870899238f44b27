import { NoAnswer } from './reason.ts'

/** The longest run of steps without an answer. */
const MOST = 4
/** After that run the store sends one step in this time: a client that loses answers must not end the sharing for ever. */
const GAP_MS = 60_000

/**
 * Counts the steps of one kind that have passed their limit without an answer. Each holds a connection of the application's pool, or waits in the
 * queue of its client. Otherwise a locked table would take all connections, and a Redis that comes back would receive the steps of hours at once.
 */
export class Unanswered {
  #count = 0
  /** When the last step was counted, or sent in spite of the others, monotonic ms. */
  #lastAt = 0

  /** @throws {NoAnswer} if no further step may be sent. */
  admit(now: number): void {
    if (this.#count < MOST) return
    if (now - this.#lastAt < GAP_MS) throw new NoAnswer(`the last ${this.#count} steps have no answer yet`)
    this.#lastAt = now
  }

  add(now: number): void {
    this.#count += 1
    this.#lastAt = now
  }

  /** A step has an answer, however late: the store is in reach. */
  end(): void {
    this.#count = 0
  }
}
