/** As `Clock` of the main entry, moved by hand: time stands still until a test says otherwise. */
export interface ManualClock {
  wallNow(): number
  monotonicNow(): number
  setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void
  /** Moves both clocks, ms, and runs the timers that fall due; after each, the promises behind it have settled. */
  advance(ms: number): Promise<void>
  /** Moves the wall clock alone, ms: a step, or (above 0) the sleep of a machine. */
  stepWall(ms: number): void
  readonly pendingTimers: number
}

/**
 * A `Clock` moved by hand. Pass it to `createTokenManager`.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { manualClock } from 'axios-evergreen/testing'
 *
 * const clock = manualClock()
 * const tokens = createTokenManager({ source, clock })
 * await clock.advance(50_000) // timers that fall due run, and what they start
 * ```
 * @param options `wallNow`: epoch ms. Default 2026-01-01T00:00:00Z.
 */
export function manualClock({ wallNow = Date.UTC(2026, 0, 1) }: { wallNow?: number } = {}): ManualClock {
  const timers = new Set<{ at: number; callback: () => void }>()
  let wall = wallNow
  let monotonic = 0
  const move = (ms: number) => {
    wall += ms
    monotonic += ms
  }
  const firstUntil = (end: number) => [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
  return {
    wallNow: () => wall,
    monotonicNow: () => monotonic,
    setTimer(callback, delayMs) {
      const timer = { at: monotonic + Math.max(0, delayMs), callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`ms must be a number from 0, got ${ms}: time does not go back`)
      const end = monotonic + ms
      await settled()
      for (let timer = firstUntil(end); timer; timer = firstUntil(end)) {
        move(timer.at - monotonic)
        timers.delete(timer)
        timer.callback()
        await settled()
      }
      move(end - monotonic)
    },
    stepWall(ms) {
      wall += ms
    },
    get pendingTimers() {
      return timers.size
    },
  }
}

/** Hashes are made on other threads: those that were asked for before ours have ended when ours has, or soon after. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await crypto.subtle.digest('SHA-256', new Uint8Array(1))
    await new Promise((resolve) => setImmediate(resolve))
  }
}
