/** Two clocks and a timer in which time passes only when told to: cool-downs cost no waiting, and nothing ends by chance. */
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

  /** Lets time pass, timer by timer; after each everything that follows from it without a socket has happened. */
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

  /** Lets time pass until `promise` has ended, beside real sockets. */
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
