import { globalAgent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { dice } from '../../lib/dice.mjs'
import { heapInUse } from './heap.mjs'

/** Between two requests of one caller, ms. */
const LONGEST_THOUGHT_MS = 500

/** Callers that send one request after the other, and rest together at times. */
export class Crowd {
  /** The heap at each rest: `{ at, bytes }`, ms since the start. */
  samples = []
  #callers
  #tally
  /** While there is one, callers start no request. */
  #rest
  #isOver = false
  #startedAt = performance.now()
  #lives

  constructor(callers, tally, seed) {
    this.#callers = callers
    this.#tally = tally
    this.#lives = callers.map((caller, n) => this.#live(caller, dice(seed, 1_000 + n)))
  }

  /** All callers pause until no request is on its way: requests in the heap would hide leaks. */
  async rest() {
    let go
    this.#rest = new Promise((resolve) => (go = resolve))
    await this.#idle()
    // The number of idle connections is chance, and each takes 20 kB.
    for (const socket of Object.values(globalAgent.freeSockets).flat()) socket.destroy()
    this.samples.push({ at: performance.now() - this.#startedAt, bytes: await heapInUse() })
    this.#rest = undefined
    go()
  }

  /** No caller sends another request. An endless one would hang the soak. */
  async end() {
    this.#isOver = true
    await this.#idle()
    if (!this.#isEndless) await Promise.all(this.#lives)
  }

  async #live(caller, { between }) {
    while (!this.#isOver) {
      await pause(between(0, LONGEST_THOUGHT_MS))
      // After a rest callers pause again: all of them at once would be a stampede of its own.
      if (this.#rest) await this.#rest
      else if (!this.#isOver) await caller.request()
    }
  }

  get #isEndless() {
    return this.#tally.broken.get('endless').length > 0
  }

  /** Waits until no request is on its way, or until one counts as endless. */
  async #idle() {
    while (this.#callers.some(({ onTheWay }) => onTheWay.size > 0) && !this.#isEndless) {
      await pause(20)
      for (const caller of this.#callers) caller.checkEndless()
    }
  }
}
