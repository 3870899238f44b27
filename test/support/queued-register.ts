import type { RegisterReading } from '../../src/store/index.ts'
import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from './memory-register.ts'

/** A register behind a pool: a limited number of connections, each of which takes some ms for a statement, first in, first out. It can stall for a time. */
export class QueuedRegister extends MemoryRegister {
  /** How long a connection takes for a statement, ms. */
  takesMs = 0
  statements = 0
  /** The largest number of statements that waited for a connection at once. */
  mostWaiting = 0
  #inFlight = 0
  readonly #clock: ManualClock
  readonly #freeAt: number[]
  #stall = { from: Infinity, to: Infinity }

  constructor(clock: ManualClock, connections: number) {
    super(clock)
    this.#clock = clock
    this.#freeAt = Array.from({ length: connections }, () => 0)
  }

  /** From now on no connection starts a statement for `ms`. */
  stall(ms: number): void {
    const now = this.#clock.monotonicNow()
    this.#stall = { from: now, to: now + ms }
  }

  override async read(key: string): Promise<RegisterReading> {
    return this.#served(() => super.read(key))
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    return this.#served(() => super.replace(...given))
  }

  async #served<Value>(execute: () => Promise<Value>): Promise<Value> {
    this.statements += 1
    this.#inFlight += 1
    this.mostWaiting = Math.max(this.mostWaiting, this.#inFlight - this.#freeAt.length)
    const first = this.#freeAt.indexOf(Math.min(...this.#freeAt))
    const freeAt = Math.max(this.#clock.monotonicNow(), this.#freeAt[first]!)
    const begins = freeAt >= this.#stall.from && freeAt < this.#stall.to ? this.#stall.to : freeAt
    this.#freeAt[first] = begins + this.takesMs
    await new Promise<void>((resolve) =>
      this.#clock.setTimer(resolve, begins + this.takesMs - this.#clock.monotonicNow()),
    )
    this.#inFlight -= 1
    return execute()
  }
}
