import type { Clock } from '../core/clock.ts'
import { setDeadline } from '../core/deadline.ts'
import { NoReply } from './reason.ts'

/** So many steps of a store are in flight at first. */
const FIRST = 4
/** So many remain: one step without an answer must not keep all others waiting. */
const FEWEST = 2
/** So many steps of a store are in flight at most, if the register does not tell how many it serves at once. */
const MOST = 50
/** So many while nothing is answered: each may hold a connection of the application's pool, behind a locked table or a dead connection. */
const MOST_IN_SILENCE = 4
/** This long after it was sent, a step without an answer no longer counts. A pool may need several steps to reach a connection that works. */
const FORGOTTEN_AFTER_MS = 5_000
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
  /** What counts as slow is measured by this, ms. Default `ms`: a patient step has a longer limit. */
  readonly usualMs?: number
  /** This step ends what another began: it is sent before others. */
  readonly isUrgent?: boolean
  /** The answer came after the limit. */
  readonly onLate?: ((value: Value) => void) | undefined
}

interface Queued {
  readonly send: () => void
  readonly fail: () => void
}

interface InFlight {
  readonly sentAt: number
  readonly forgottenAt: number
  /** It has passed its limit. */
  isLate: boolean
}

/**
 * Sends the steps of one store: as many at once as the register can do. A limit counts from sending. So a register that gets more steps than it can
 * do would answer all of them too late, and would still execute each one: work without progress.
 *
 * The number grows by one when all places were in use and as many steps were answered in less than half of their limit. It shrinks by one when an
 * answer takes more than three quarters of the limit, and to a half when a step has no answer in time. That step keeps its place, because the register
 * may still be at work on it.
 */
export class Steps {
  readonly #inFlight = new Set<InFlight>()
  readonly #capacity: number
  readonly #urgent: Queued[] = []
  readonly #queued: Queued[] = []
  #most: number
  /** Quick answers since `#most` has changed. */
  #quick = 0
  /** Steps that were sent before tell of an earlier `#most`. */
  #changedAt = -1
  #answers = 0
  /** A step had no answer, and no other has had one since it was sent. */
  #isSilent = false
  /** The silence has lasted for the limit of one more step: nobody waits for a place any more. */
  #isLong = false
  #cancelSilence: () => void = () => undefined

  /** @param capacity How many steps the register serves at once. */
  constructor(capacity = MOST) {
    this.#capacity = Math.min(capacity, MOST)
    this.#most = Math.min(FIRST, this.#capacity)
  }

  /** @throws {NoReply} */
  run<Value>(step: () => Promise<Value>, limit: Limit<Value>): Promise<Value> {
    const { clock, ms, isUrgent = false } = limit
    return new Promise((resolve, reject) => {
      const fail = () => reject(new NoReply(`no answer within ${ms} ms`))
      const send = () => void this.#send(step, limit, fail).then(resolve, reject)
      if (this.#hasPlace(clock)) send()
      else if (this.#isLong) reject(new NoReply(`the last ${this.#inFlight.size} steps have no answer yet`))
      else (isUrgent ? this.#urgent : this.#queued).push({ send, fail })
    })
  }

  #send<Value>(step: () => Promise<Value>, { clock, ms, usualMs = ms, onLate }: Limit<Value>, fail: () => void) {
    const sentAt = clock.monotonicNow()
    const own = { sentAt, forgottenAt: sentAt + Math.max(FORGOTTEN_AFTER_MS, 2 * ms), isLate: false }
    this.#inFlight.add(own)
    const isFull = this.#inFlight.size >= this.#most
    const answersBefore = this.#answers
    const pending = step()
    const cancel = setPatientDeadline(clock, ms, () => {
      fail()
      own.isLate = true
      pending.then(onLate, () => undefined)
      this.#change(own, Math.max(Math.min(FEWEST, this.#capacity), this.#most >> 1), clock)
      clock.setTimer(() => this.#sendQueued(clock), own.forgottenAt - clock.monotonicNow())
      if (this.#answers === answersBefore && !this.#isSilent) this.#beSilent(clock, ms)
    })
    const answered = () => {
      cancel()
      this.#inFlight.delete(own)
      this.#isSilent = this.#isLong = false
      this.#cancelSilence()
      this.#answers += 1
      answersOfProcess += 1
      this.#learn(own, isFull, usualMs, clock)
      this.#sendQueued(clock)
    }
    pending.then(answered, answered)
    return pending
  }

  #learn(own: InFlight, isFull: boolean, usualMs: number, clock: Clock): void {
    const tookMs = clock.monotonicNow() - own.sentAt
    if (tookMs > 0.75 * usualMs) {
      if (this.#most > FEWEST) this.#change(own, this.#most - 1, clock)
    } else if (tookMs <= usualMs / 2) {
      this.#quick += 1
      // Never more than were answered in time before.
      if (isFull && this.#quick > this.#most) this.#change(own, Math.min(this.#most + 1, this.#capacity), clock)
    }
  }

  #change({ sentAt }: InFlight, most: number, clock: Clock): void {
    if (most < this.#most && sentAt <= this.#changedAt) return
    this.#most = most
    this.#quick = 0
    this.#changedAt = clock.monotonicNow()
  }

  #sendQueued(clock: Clock): void {
    while (this.#hasPlace(clock)) {
      const next = this.#urgent.shift() ?? this.#queued.shift()
      if (!next) return
      next.send()
    }
  }

  #hasPlace(clock: Clock): boolean {
    const now = clock.monotonicNow()
    for (const one of this.#inFlight) if (one.forgottenAt <= now) this.#inFlight.delete(one)
    if (this.#isSilent) return this.#inFlight.size < Math.min(MOST_IN_SILENCE, this.#capacity)
    // While others are answered, one at a time may go beside those that are late.
    const late = [...this.#inFlight].filter(({ isLate }) => isLate).length
    return this.#inFlight.size < Math.max(this.#most, late + 1)
  }

  /** Who waits for a place need not wait for each step before. But one late step of a busy machine is no outage for all of them. */
  #beSilent(clock: Clock, ms: number): void {
    this.#isSilent = true
    this.#sendQueued(clock)
    this.#cancelSilence = setDeadline(clock, ms, () => {
      this.#isLong = true
      for (const { fail } of [...this.#urgent.splice(0), ...this.#queued.splice(0)]) fail()
    })
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
