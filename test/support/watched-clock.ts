import { manualClock, type ManualClock, settled } from '../../src/testing/manual-clock.ts'

/** `manualClock`, which also tells what was asked of it. */
export interface WatchedClock extends ManualClock {
  /** Every delay ever asked for, ms. */
  readonly delays: number[]
  /** Timers that would keep the process alive. */
  readonly holding: number
  readonly nextTimerAt: number | undefined
}

export function watchedClock(): WatchedClock {
  const clock = manualClock()
  const timers = new Set<{ readonly at: number; readonly holdsProcess: boolean }>()
  const delays: number[] = []
  return {
    ...clock,
    setTimer(callback, delayMs, holdsProcess = false) {
      const timer = { at: clock.monotonicNow() + delayMs, holdsProcess }
      timers.add(timer)
      delays.push(delayMs)
      const cancel = clock.setTimer(() => {
        timers.delete(timer)
        callback()
      }, delayMs)
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
    delays,
    get holding() {
      return [...timers].filter(({ holdsProcess }) => holdsProcess).length
    },
    get nextTimerAt() {
      return timers.size > 0 ? Math.min(...[...timers].map(({ at }) => at)) : undefined
    },
    get pendingTimers() {
      return timers.size
    },
  }
}

/** Runs every promise reaction that is ready, and what follows from it; WebCrypto too, which works on other threads. */
export const settle = settled

// What a test begins before its first clock counts too.
void settled()
