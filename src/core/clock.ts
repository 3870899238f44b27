/** The time source of a manager: two clocks and a timer. Tests can replace it. */
export interface Clock {
  /** The wall clock, epoch ms. It may jump. */
  wallNow(): number
  /** The monotonic clock, ms from an arbitrary origin. It never goes back. */
  monotonicNow(): number
  /**
   * Runs `callback` once, after `delayMs`. The timer keeps the process alive only if `holdsProcess` is true: timers of
   * waiting callers do, background timers do not. A timer of 0 ms may keep it alive for one turn of the event loop.
   *
   * @returns a function that cancels the timer.
   */
  setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void
}

/** The longest delay of setTimeout, ms. A longer delay overflows, and the timer fires at once: a long pause would become a tight loop. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1

/** @returns A valid timer delay. Rounded up: a timer that fires a fraction of a ms early would be set again for 0 ms, in an endless loop. */
export function timerDelayMs(ms: number): number {
  return Math.ceil(Math.max(0, Math.min(ms, LONGEST_TIMER_MS)))
}

/** Browsers lack setImmediate. */
const turns = globalThis as { setImmediate?: typeof setImmediate; clearImmediate: typeof clearImmediate }

/** This machine's clocks, in any runtime. */
export const systemClock: Clock = /* @__PURE__ */ Object.freeze({
  wallNow: () => Date.now(),
  monotonicNow: () => performance.now(),
  setTimer(callback: () => void, delayMs: number, holdsProcess = false) {
    // setImmediate runs after the event loop has read its sockets; a timer of 0 ms may run before that. It is never unref'd: in an idle
    // process the event loop would then wait for another timer before it runs the callback.
    if (delayMs <= 0 && turns.setImmediate) {
      const turn = turns.setImmediate(callback)
      return () => turns.clearImmediate(turn)
    }
    const timer: unknown = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS))
    // Browsers and workers return a number, and no timer keeps them alive.
    if (!holdsProcess) (timer as { unref?: () => void }).unref?.()
    return () => clearTimeout(timer as never)
  },
})
