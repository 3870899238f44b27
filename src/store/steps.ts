import type { Clock } from '../core/clock.ts'
import { setDeadline } from '../core/deadline.ts'
import { NoReply } from './reason.ts'

/** The initial number of concurrent steps. */
const FIRST = 4
/** The lowest limit: one step that gets no response must not block all others. */
const FEWEST = 2
/** The highest limit, if the register does not state its capacity. */
const MOST = 50
/** The limit while nothing responds: each step may hold a connection of the application's pool, behind a locked table or a dead connection. */
const MOST_IN_SILENCE = 4
/** How long a step that gets no response counts. A pool may need several steps to reach a working connection. */
const FORGOTTEN_AFTER_MS = 5_000
/** Event-loop turns that take longer show that the process is busy: responses may wait in its sockets. */
const BUSY_MS = 10
/** How much longer than its limit a busy process waits for responses, at most. */
const LONGEST_BUSY_MS = 10_000

/** The number of responses of all stores: while a busy process reads responses, there may be more. */
let responsesOfProcess = 0

interface Limit<Value> {
  readonly clock: Clock
  /** Counts from sending, not from queueing. */
  readonly ms: number
  /** The limit that decides what is slow, ms. Default `ms`, which is longer for a patient step. */
  readonly usualMs?: number
  /** The step ends what another one began, so it is sent before others. */
  readonly isUrgent?: boolean
  /** Called if the response came after the limit. */
  readonly onLate?: ((value: Value) => void) | undefined
}

interface Queued {
  readonly send: () => void
  readonly fail: () => void
}

interface InFlight {
  readonly sentAt: number
  readonly forgottenAt: number
  /** The step has passed its limit. */
  isLate: boolean
}

/**
 * Limits the concurrent steps of one store to what the register can do. Timeouts count from sending, so a register with more steps than it can do would
 * respond to all of them too late, and would still execute each one.
 *
 * The limit grows by one if all places were in use and as many steps had a response within half of their timeout. It shrinks by one if a response takes more
 * than three quarters of the timeout, and to half if a step has no response in time. That step keeps its place, because the register may still execute it.
 */
export class Steps {
  readonly #inFlight = new Set<InFlight>()
  readonly #capacity: number
  readonly #urgent: Queued[] = []
  readonly #queued: Queued[] = []
  #most: number
  /** The number of fast responses since `#most` changed. */
  #quick = 0
  /** Steps sent before this instant reflect an earlier `#most`. */
  #changedAt = -1
  #responses = 0
  /** A step had no response in time, and no other step has had one since it was sent. */
  #isSilent = false
  /** The silence has lasted for the timeout of one more step: steps no longer queue. */
  #isLong = false
  #cancelSilence: () => void = () => undefined

  /** @param capacity How many steps the register can run at once. */
  constructor(capacity = MOST) {
    this.#capacity = Math.min(capacity, MOST)
    this.#most = Math.min(FIRST, this.#capacity)
  }

  /** @throws {NoReply} */
  run<Value>(step: () => Promise<Value>, limit: Limit<Value>): Promise<Value> {
    const { clock, ms, isUrgent = false } = limit
    return new Promise((resolve, reject) => {
      const fail = () => reject(new NoReply(`no response within ${ms} ms`))
      const send = () => void this.#send(step, limit, fail).then(resolve, reject)
      if (this.#hasPlace(clock)) send()
      else if (this.#isLong) reject(new NoReply(`the last ${this.#inFlight.size} steps have had no response yet`))
      else (isUrgent ? this.#urgent : this.#queued).push({ send, fail })
    })
  }

  #send<Value>(step: () => Promise<Value>, { clock, ms, usualMs = ms, onLate }: Limit<Value>, fail: () => void) {
    const sentAt = clock.monotonicNow()
    const own = { sentAt, forgottenAt: sentAt + Math.max(FORGOTTEN_AFTER_MS, 2 * ms), isLate: false }
    this.#inFlight.add(own)
    const isFull = this.#inFlight.size >= this.#most
    const responsesBefore = this.#responses
    const pending = step()
    const cancel = setPatientDeadline(clock, ms, () => {
      fail()
      own.isLate = true
      pending.then(onLate, () => undefined)
      this.#change(own, Math.max(Math.min(FEWEST, this.#capacity), this.#most >> 1), clock)
      clock.setTimer(() => this.#sendQueued(clock), own.forgottenAt - clock.monotonicNow())
      if (this.#responses === responsesBefore && !this.#isSilent) this.#beSilent(clock, ms)
    })
    const responded = () => {
      cancel()
      this.#inFlight.delete(own)
      this.#isSilent = this.#isLong = false
      this.#cancelSilence()
      this.#responses += 1
      responsesOfProcess += 1
      this.#learn(own, isFull, usualMs, clock)
      this.#sendQueued(clock)
    }
    pending.then(responded, responded)
    return pending
  }

  #learn(own: InFlight, isFull: boolean, usualMs: number, clock: Clock): void {
    const tookMs = clock.monotonicNow() - own.sentAt
    if (tookMs > 0.75 * usualMs) {
      if (this.#most > FEWEST) this.#change(own, this.#most - 1, clock)
    } else if (tookMs <= usualMs / 2) {
      this.#quick += 1
      // Never more than had responses in time before.
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
    // While other steps have responses, one at a time may run in parallel with the late ones.
    const late = [...this.#inFlight].filter(({ isLate }) => isLate).length
    return this.#inFlight.size < Math.max(this.#most, late + 1)
  }

  /** Fails queued steps together instead of one after another. A single late step of a busy machine is no outage for all of them. */
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
 * Sets a deadline that tolerates a busy process: a response that has arrived counts, however late it is read. The process is busy if a few turns of its event
 * loop take long. The deadline is then extended as long as responses are being read.
 */
function setPatientDeadline(clock: Clock, ms: number, onPassed: () => void): () => void {
  const endAt = clock.monotonicNow() + ms + LONGEST_BUSY_MS
  let responsesBefore = responsesOfProcess
  const check = (isBusy: boolean) => {
    const checkedAt = clock.monotonicNow()
    if (!isBusy || responsesBefore === responsesOfProcess || checkedAt >= endAt) {
      onPassed()
      return
    }
    responsesBefore = responsesOfProcess
    cancel = setDeadline(clock, 0, () => check(clock.monotonicNow() - checkedAt > BUSY_MS))
  }
  let cancel = setDeadline(clock, ms, () => check(true))
  return () => cancel()
}
