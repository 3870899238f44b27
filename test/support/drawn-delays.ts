import type { TokenRegister } from '../../src/store/index.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import { randomFrom } from './random.ts'

/** How long the steps of a store take. */
export interface Delays {
  /** Draws the delay of each step. A failure prints it. */
  readonly seed: number
  /** ms, before a step is executed, and again before its response arrives. */
  readonly mostMs: number
  /** Every step takes `mostMs`. */
  readonly areEqual: boolean
}

export const NO_DELAY: Delays = { seed: 0, mostMs: 0, areEqual: true }

/** @returns The delay of each next step. */
export function drawnFrom({ seed, mostMs, areEqual }: Delays): () => number {
  const random = randomFrom(seed)
  return () => (areEqual ? mostMs : Math.floor(random() * (mostMs + 1)))
}

/** The path of one owner to a register whose steps each take a drawn time. */
export function delayed(register: TokenRegister, clock: Pick<ManualClock, 'setTimer'>, delays: Delays): TokenRegister {
  const draw = drawnFrom(delays)
  const pause = async () => {
    const ms = draw()
    if (ms > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, ms))
  }
  const pass = async <Value>(execute: () => Promise<Value>): Promise<Value> => {
    await pause()
    const value = await execute()
    await pause()
    return value
  }
  return {
    kind: register.kind,
    read: (...given) => pass(() => register.read(...given)),
    replace: (...given) => pass(() => register.replace(...given)),
  }
}
