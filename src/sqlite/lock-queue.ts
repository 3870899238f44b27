import type { Clock } from '../core/clock.ts'
import { codeOf } from './reason.ts'

/** Attempts cost microseconds, and other processes hold the lock for milliseconds. */
const AGAIN_MS = 5

interface Queued {
  readonly attempt: () => void
  readonly reject: (thrown: unknown) => void
  /** When the step rejects, monotonic ms. */
  readonly until: number
}

/**
 * A queue of steps of one kind, which a lock of another process may block. SQLite itself would wait for the lock within its call, and block the event loop.
 * So no call waits, and a timer tries again. However many steps wait, only the first one is tried.
 */
export class LockQueue {
  readonly #clock: Clock
  readonly #patienceMs: number
  #queued: Queued[] = []

  /** @param patienceMs A step that is blocked for longer rejects. */
  constructor(clock: Clock, patienceMs: number) {
    this.#clock = clock
    this.#patienceMs = patienceMs
  }

  /** @param step Synchronous. It is repeated if it throws because the database is locked. */
  run<Value>(step: () => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      const until = this.#clock.monotonicNow() + this.#patienceMs
      this.#queued.push({ attempt: () => resolve(step()), reject, until })
      if (this.#queued.length === 1) this.#tryFirst()
    })
  }

  #tryFirst(): void {
    const [first] = this.#queued
    if (!first) return
    try {
      first.attempt()
    } catch (thrown) {
      if (isBusy(thrown)) {
        this.#heldUp(thrown)
        return
      }
      first.reject(thrown)
    }
    this.#queued.shift()
    // Yields to the event loop between two steps: each may take as long as the disk.
    if (this.#queued.length > 0) this.#tryIn(0)
  }

  #heldUp(thrown: unknown): void {
    const now = this.#clock.monotonicNow()
    for (const { reject, until } of this.#queued) if (until <= now) reject(thrown)
    this.#queued = this.#queued.filter(({ until }) => until > now)
    if (this.#queued.length > 0) this.#tryIn(AGAIN_MS)
  }

  /** The timer keeps the process alive, as the socket of a server would. Otherwise a process that only logs in would end before the login is stored. */
  #tryIn(ms: number): void {
    this.#clock.setTimer(() => this.#tryFirst(), ms, true)
  }
}

export const isBusy = (thrown: unknown): boolean => codeOf(thrown) === 'BUSY'
