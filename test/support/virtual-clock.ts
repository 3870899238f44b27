import { setImmediate as macrotask } from 'node:timers/promises'
import type { Clock } from '../../src/index.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
  readonly delayMs: number
  readonly holdsProcess: boolean
}

/** Two clocks and a timer, moved by hand: time stands still until a test says otherwise. */
export class VirtualClock implements Clock {
  #monotonic = 1_000
  #wall: number
  readonly #timers = new Set<Timer>()
  /** Every delay ever asked for, ms. */
  readonly delays: number[] = []

  constructor(wall = Date.UTC(2026, 0, 1)) {
    this.#wall = wall
  }

  wallNow = () => this.#wall
  monotonicNow = () => this.#monotonic

  setTimer = (callback: () => void, delayMs: number, holdsProcess = false) => {
    const timer: Timer = { at: this.#monotonic + delayMs, callback, delayMs, holdsProcess }
    this.#timers.add(timer)
    this.delays.push(delayMs)
    return () => void this.#timers.delete(timer)
  }

  /** Timers that would keep the process alive. */
  get holding(): number {
    return [...this.#timers].filter((timer) => timer.holdsProcess).length
  }

  get nextTimerAt(): number | undefined {
    return this.#next(Infinity)?.at
  }

  get pending(): number {
    return this.#timers.size
  }

  /** Lets both clocks run, timer by timer; after each everything that follows from it has happened. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms
    await settle()
    for (let timer = this.#next(end); timer; timer = this.#next(end)) {
      this.#move(Math.max(0, timer.at - this.#monotonic))
      this.#timers.delete(timer)
      timer.callback()
      await settle()
    }
    this.#move(end - this.#monotonic)
  }

  /** Moves the wall clock alone: a step, or (with ms > 0) sleep. */
  jump(ms: number): void {
    this.#wall += ms
  }

  #move(ms: number): void {
    this.#monotonic += ms
    this.#wall += ms
  }

  #next(end: number): Timer | undefined {
    return [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0]
  }
}

/** Runs every promise reaction that is ready, and what follows from it; WebCrypto too, which works on other threads. */
export async function settle(): Promise<void> {
  do for (let turn = 0; turn < 3; turn += 1) await macrotask()
  while (atWork > 0)
}

/** Operations of WebCrypto that have not ended. To wait for one of our own instead would take most of the time of the suite. */
let atWork = 0

const ended = () => void (atWork -= 1)
// From the prototype: all test files of a worker share the object.
const operations = Object.getPrototypeOf(crypto.subtle) as Record<string, (...args: unknown[]) => Promise<unknown>>
for (const name of ['digest', 'importKey', 'sign', 'verify', 'encrypt', 'decrypt']) {
  const operation = operations[name]!
  const counted = (...args: unknown[]) => {
    const result = operation.apply(crypto.subtle, args)
    atWork += 1
    result.then(ended, ended)
    return result
  }
  Object.defineProperty(crypto.subtle, name, { value: counted, configurable: true, writable: true })
}
