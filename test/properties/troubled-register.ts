import type { TokenRegister } from '../../src/store/index.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import { type Delays, drawnFrom, NO_DELAY } from '../support/drawn-delays.ts'
import type { WatchedRegister } from '../support/memory-register.ts'
import type { REGISTERS } from './login-course.ts'

/** Longer than the limit of any step. */
const TOO_LATE_MS = 1_500

/** The path of one manager to a register, which may be slow or down, or too late for it alone. */
export class TroubledRegister implements TokenRegister {
  readonly kind = 'memory-register'
  /** unanswered: it executes writes, and their responses are lost. */
  is: (typeof REGISTERS)[number] | 'unanswered' = 'well'
  readonly #register: WatchedRegister
  readonly #clock: ManualClock
  readonly #draw: () => number

  /** @param delays Of each step, beside those of its state. */
  constructor(register: WatchedRegister, clock: ManualClock, delays: Delays = NO_DELAY) {
    this.#draw = drawnFrom(delays)
    this.#register = register
    this.#clock = clock
  }

  async read(...what: Parameters<TokenRegister['read']>) {
    await this.#way('delayed')
    const reading = await this.#register.read(...what)
    await this.#way('late')
    return reading
  }

  async replace(...what: Parameters<TokenRegister['replace']>) {
    await this.#way('delayed')
    const isReplaced = await this.#register.replace(...what)
    await this.#way('late')
    if (this.is === 'unanswered') throw new Error('the connection broke')
    return isReplaced
  }

  watch(onChange: () => void): () => void {
    // Each follower counts, even if two follow with the same function.
    return this.#register.watch(() => onChange())
  }

  async #way(late: 'late' | 'delayed'): Promise<void> {
    if (this.is === 'down') throw new Error('the register is down')
    const ms = (this.is === 'slow' ? 100 : this.is === late ? TOO_LATE_MS : 0) + this.#draw()
    if (ms > 0) await new Promise<void>((resolve) => this.#clock.setTimer(resolve, ms))
  }
}
