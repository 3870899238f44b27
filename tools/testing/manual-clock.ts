import { setImmediate } from 'node:timers/promises'
import { type CryptoWork, cryptoWork } from './crypto-work.ts'

/** Taken when this module is loaded: the mock timers of `node:test` may replace it later. */
const macrotask = setImmediate

/** A `Clock` (see the main entry) whose time moves only when a test moves it. */
export interface ManualClock {
  wallNow(): number
  monotonicNow(): number
  setTimer(callback: () => void, delayMs: number, holdsProcess?: boolean): () => void
  /**
   * Moves both clocks by `ms`, and runs the timers of that time. After each timer, waits until the promises behind it have settled. Does not wait for
   * the network: a request in flight may reach its deadline.
   *
   * @throws {Error} After a chain of 10 000 timers within one millisecond, each set after the one before it ran: time would never get past them.
   */
  advance(ms: number): Promise<void>
  /** Moves only the wall clock by `ms`: a step of that clock, or (above 0) the sleep of a machine. */
  stepWall(ms: number): void
  readonly pendingTimers: number
}

/** The most timers within a millisecond, each set after the one before it ran. */
const LONGEST_CHAIN = 10_000

interface Timer {
  readonly at: number
  readonly callback: () => void
  /** When the first timer of its chain ran, and how many timers ran since. */
  readonly chain: { readonly from: number; readonly length: number }
}

/**
 * Makes a `Clock` that a test moves by hand. Pass it to `createTokenManager`. From then on, the methods of `crypto.subtle` are replaced by ones that
 * count running operations, because `advance` waits for these operations. The promise of `advance` never settles if a stub of yours never completes one.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { manualClock } from 'axios-evergreen/testing'
 *
 * const clock = manualClock()
 * const tokens = createTokenManager({ source, clock })
 * await clock.advance(50_000) // runs the timers that become due, and what they start
 * ```
 * @param options `wallNow`: epoch ms. Default 2026-01-01T00:00:00Z.
 */
export function manualClock({ wallNow = Date.UTC(2026, 0, 1), ...others }: { wallNow?: number } = {}): ManualClock {
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new TypeError(`manualClock: there is no '${unknown}', did you mean 'wallNow'?`)
  checkTime('wallNow', wallNow)
  // Operations that begin before the first `advance` count too.
  cryptoWork()
  // Sorted: the timer that runs next is the last one.
  const timers: Timer[] = []
  let monotonic = 0
  let wallAhead = wallNow
  /** The timer that ran last, while `advance` waits for what follows from it. */
  let latest: Timer | undefined
  return {
    wallNow: () => wallAhead + monotonic,
    monotonicNow: () => monotonic,
    setTimer(callback, delayMs) {
      const at = monotonic + (delayMs > 0 ? delayMs : 0)
      const timer: Timer = { at, callback, chain: chainOf(at, latest) }
      timers.splice(placeOf(timer.at, timers), 0, timer)
      return () => {
        const place = timers.indexOf(timer, placeOf(timer.at, timers))
        if (place >= 0) timers.splice(place, 1)
      }
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`ms must be a number from 0, got ${ms}: time does not go back`)
      const end = monotonic + ms
      const work = cryptoWork()
      await settled(work)
      for (let next = timers.at(-1); next && next.at <= end; next = timers.at(-1)) {
        timers.pop()
        monotonic = Math.max(monotonic, next.at)
        latest = next
        if (next.chain.length >= LONGEST_CHAIN) throw new Error(endless(next))
        next.callback()
        await settled(work)
      }
      latest = undefined
      monotonic = Math.max(monotonic, end)
    },
    stepWall(ms) {
      checkTime('ms', ms)
      wallAhead += ms
    },
    get pendingTimers() {
      return timers.length
    },
  }
}

const chainOf = (at: number, { chain }: Partial<Timer> = {}): Timer['chain'] =>
  chain && at - chain.from < 1 ? { from: chain.from, length: chain.length + 1 } : { from: at, length: 0 }

const endless = ({ at }: Timer) =>
  `advance() stopped at ${at} ms: ${LONGEST_CHAIN} timers ran one after the other, and time did not pass. Some callback sets a timer of 0 ms again and again`

/** NaN would spread to all later readings. */
function checkTime(name: string, value: unknown): void {
  if (!Number.isFinite(value)) throw new RangeError(`${name} must be a finite number, got ${String(value)}`)
}

/** @returns The place for a new timer of `at`: it runs after the timers of the same instant that were set before it. */
function placeOf(at: number, timers: readonly Timer[]): number {
  let [low, high] = [0, timers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((timers[middle]?.at ?? at) > at) low = middle + 1
    else high = middle
  }
  return low
}

/** Waits until the promise reactions that are ready have run, with all that follows from them, operations of WebCrypto included. */
export async function settled(work: Readonly<CryptoWork> = cryptoWork()): Promise<void> {
  do for (let turn = 0; turn < 3; turn += 1) await macrotask()
  while (work.underWay > 0)
}
