import { manualClock, type ManualClock, settled } from '../../tools/testing/manual-clock.ts'

/** `manualClock`, which also records the timers that were set. */
export interface WatchedClock extends ManualClock {
  /** The delays of all timers that were ever set, ms. */
  readonly delays: number[]
  /** How many pending timers would keep the process alive. */
  readonly holding: number
  readonly nextTimerAt: number | undefined
}

const UPTIME_MS = 12_345_678

export function watchedClock(): WatchedClock {
  const clock = manualClock()
  // As on a real machine, it starts at some instant long ago, so that a value added twice, or forgotten, shows.
  const monotonicNow = () => UPTIME_MS + clock.monotonicNow()
  const timers = new Set<{ readonly at: number; readonly holdsProcess: boolean }>()
  const delays: number[] = []
  return {
    ...clock,
    monotonicNow,
    setTimer(callback, delayMs, holdsProcess = false) {
      const timer = { at: monotonicNow() + delayMs, holdsProcess }
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

/** Waits until all ready promise reactions have run, with all their consequences, including WebCrypto on other threads. */
export const settle = settled

// WebCrypto operations that a test starts before its first clock count too.
void settled()
