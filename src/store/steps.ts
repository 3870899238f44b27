import type { Clock } from '../core/clock.ts'
import { setDeadline } from '../core/deadline.ts'
import { NoAnswer } from './reason.ts'

/** So many steps of one kind are in flight at most. */
const MOST = 25
/** So many while nothing is answered: each may hold a connection of the application's pool, behind a locked table or a dead connection. */
const MOST_IN_SILENCE = 4
/** This long after its limit a step without an answer no longer counts. A pool may need several steps to reach a connection that works. */
const FORGOTTEN_AFTER_MS = 1_000
/** A few turns of the loop that take longer show that the process is busy: answers may wait in its sockets. */
const BUSY_MS = 10
/** A busy process waits for answers so much longer than its limit, at most. */
const LONGEST_BUSY_MS = 10_000

/** How many steps of all stores were answered: while a busy process reads answers, there may be more. */
let answersOfProcess = 0

interface Limit<Value> {
  readonly clock: Clock
  /** Counts from sending, not from the place in the queue. */
  readonly ms: number
  /** The answer came after the limit. */
  readonly onLate?: ((value: Value) => void) | undefined
}

interface Waiting {
  readonly send: () => void
  readonly fail: () => void
}

/** Sends the steps of one store and one kind: reads may be answered while a lock holds all writes. */
export class Steps {
  readonly #inFlight = new Set<{ readonly forgottenAt: number }>()
  #waiting: Waiting[] = []
  #answers = 0
  /** A step had no answer, and no other has had one since it was sent. */
  #isSilent = false

  /** @throws {NoAnswer} */
  run<Value>(step: () => Promise<Value>, { clock, ms, onLate = () => undefined }: Limit<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const fail = () => reject(new NoAnswer(`no answer within ${ms} ms`))
      const send = () => {
        const own = { forgottenAt: clock.monotonicNow() + ms + FORGOTTEN_AFTER_MS }
        this.#inFlight.add(own)
        const answersBefore = this.#answers
        const pending = step()
        const cancel = setPatientDeadline(clock, ms, () => {
          fail()
          pending.then(onLate, () => undefined)
          if (this.#answers === answersBefore) this.#beSilent()
        })
        const answered = () => {
          cancel()
          this.#inFlight.delete(own)
          this.#isSilent = false
          this.#answers += 1
          answersOfProcess += 1
          while (this.#waiting.length > 0 && this.#hasPlace(clock)) this.#waiting.shift()?.send()
        }
        pending.then(answered, answered)
        pending.then(resolve, reject)
      }
      if (this.#hasPlace(clock)) send()
      else if (!this.#isSilent) this.#waiting.push({ send, fail })
      else reject(new NoAnswer(`the last ${this.#inFlight.size} steps have no answer yet`))
    })
  }

  #hasPlace(clock: Clock): boolean {
    const now = clock.monotonicNow()
    for (const one of this.#inFlight) if (one.forgottenAt <= now) this.#inFlight.delete(one)
    return this.#inFlight.size < (this.#isSilent ? MOST_IN_SILENCE : MOST)
  }

  /** Who waits for a place is told at once, and need not wait for each step before. */
  #beSilent(): void {
    this.#isSilent = true
    for (const { fail } of this.#waiting.splice(0)) fail()
  }
}

/**
 * An answer that has arrived counts, however late a busy process reads it: a slow process is no outage of the store. The process is busy if a few turns
 * of its loop take long. It then waits as long as it reads answers.
 */
function setPatientDeadline(clock: Clock, ms: number, onPassed: () => void): () => void {
  const endAt = clock.monotonicNow() + ms + LONGEST_BUSY_MS
  let answersBefore = answersOfProcess
  const look = (isBusy: boolean) => {
    const lookedAt = clock.monotonicNow()
    if (!isBusy || answersBefore === answersOfProcess || lookedAt >= endAt) {
      onPassed()
      return
    }
    answersBefore = answersOfProcess
    cancel = setDeadline(clock, 0, () => look(clock.monotonicNow() - lookedAt > BUSY_MS))
  }
  let cancel = setDeadline(clock, ms, () => look(true))
  return () => cancel()
}
