/** Two clocks and a timer; replace them in tests. */
export interface Clock {
  /** Epoch ms; may jump. */
  wallNow(): number
  /** Ms from any origin; never goes back. */
  monotonicNow(): number
  /**
   * Runs `callback` once. Keeps the process alive only if `holdsProcess`: the limit of a waiting caller does, everything
   * in the background does not. @returns cancel.
   */
  setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void
}

/** setTimeout wraps beyond this and then fires at once: a long pause would become a tight loop. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Missing in browsers. */
const turns = globalThis as { setImmediate?: typeof setImmediate; clearImmediate: typeof clearImmediate }

/** This machine's clocks, in any runtime. */
export const systemClock: Clock = /* @__PURE__ */ Object.freeze({
  wallNow: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer(callback: () => void, delayMs: number, holdsProcess = false) {
    // The next turn of the event loop, after it has read its sockets: a timer of 0 ms may come before.
    if (delayMs <= 0 && turns.setImmediate) {
      const turn = turns.setImmediate(callback)
      // Libraries that add it to a browser hand out numbers, too.
      if (!holdsProcess) (turn as { unref?: () => void }).unref?.()
      return () => turns.clearImmediate(turn)
    }
    const timer: unknown = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS))
    // Browsers and workers hand out numbers, which hold nothing.
    if (!holdsProcess) (timer as { unref?: () => void }).unref?.()
    return () => clearTimeout(timer as never)
  },
})
