/** Two clocks and a timer in which time passes only when told to; a heap, since a fleet has ten thousand timers. */
export class VirtualClock {
  #now = 0
  #heap = []
  #set = 0
  /** Timers that have neither fired nor been cancelled. */
  pending = 0

  wallNow = () => WALL_START + this.#now
  monotonicNow = () => this.#now

  setTimer = (callback, delayMs) => {
    const timer = { at: this.#now + delayMs, order: this.#set++, callback }
    this.#push(timer)
    this.pending += 1
    return () => {
      if (!timer.callback) return
      timer.callback = undefined
      this.pending -= 1
    }
  }

  /** Lets time pass until `at`, timer by timer; after each everything that follows from it has happened. */
  async runTo(at) {
    // What has begun at this instant belongs to it.
    await settle()
    for (let timer = this.#due(at); timer; timer = this.#due(at)) {
      this.#now = Math.max(this.#now, timer.at)
      const { callback } = timer
      timer.callback = undefined
      this.pending -= 1
      callback()
      await settle()
    }
    this.#now = Math.max(this.#now, at)
  }

  #due(at) {
    while (this.#heap.length > 0 && this.#heap[0].at <= at) {
      const timer = this.#pop()
      if (timer.callback) return timer
    }
    return undefined
  }

  #push(timer) {
    const heap = this.#heap
    let at = heap.length
    for (let above = (at - 1) >> 1; at > 0 && isBefore(timer, heap[above]); above = (at - 1) >> 1) {
      heap[at] = heap[above]
      at = above
    }
    heap[at] = timer
  }

  #pop() {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below + 1 < heap.length && isBefore(heap[below + 1], heap[below])) below += 1
      if (below >= heap.length || !isBefore(heap[below], last)) break
      heap[at] = heap[below]
      at = below
    }
    heap[at] = last
    return first
  }
}

const WALL_START = Date.UTC(2026, 0, 1)

/** Runs every promise reaction that is ready, and what follows from it. Work of other threads is not waited for. */
function settle() {
  return new Promise(setImmediate)
}

function isBefore(one, other) {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
