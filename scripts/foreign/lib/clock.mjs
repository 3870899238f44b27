/** A `Clock` whose time passes only when a check says so: cool-downs cost no real time, and nothing ends by chance. */
export class ManualClock {
  #now = 0
  #timers = new Set()

  wallNow = () => Date.UTC(2026, 0, 1) + this.#now
  monotonicNow = () => this.#now

  setTimer = (callback, delayMs) => {
    const timer = { at: this.#now + delayMs, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Lets time pass, timer by timer. After each timer, waits for all that follows from it without a socket. */
  async advance(ms) {
    const end = this.#now + ms
    for (let timer = this.#due(end); timer; timer = this.#due(end)) {
      this.#now = Math.max(this.#now, timer.at)
      this.#timers.delete(timer)
      timer.callback()
      await turn()
    }
    this.#now = end
  }

  /** Lets time pass, while real sockets go on, until `promise` has ended. */
  async advanceUntil(promise) {
    let hasEnded = false
    const end = () => (hasEnded = true)
    promise.then(end, end)
    while (!hasEnded) {
      await turn()
      await this.advance(100)
    }
  }

  #due(end) {
    return [...this.#timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0]
  }
}

function turn() {
  return new Promise(setImmediate)
}
