import type { ManualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'
import type { Promises } from './promises.ts'

/** Advances the time of a course, and checks its promises at each turn. */
export class Turns {
  readonly #clock: Pick<ManualClock, 'advance'>
  readonly #promises: Promises
  readonly #unhandled: unknown[]
  readonly #settled: () => void

  /** @param unhandled Receives the rejections that no handler took. @param settled Called in each turn, before the promises are checked. */
  constructor(
    clock: Pick<ManualClock, 'advance'>,
    promises: Promises,
    unhandled: unknown[],
    settled = (): void => undefined,
  ) {
    this.#clock = clock
    this.#promises = promises
    this.#unhandled = unhandled
    this.#settled = settled
  }

  async advance(ms: number): Promise<void> {
    await this.turn()
    await this.#clock.advance(ms)
    await this.turn()
  }

  /** Lets everything happen that needs no time. */
  async turn(): Promise<void> {
    await settle()
    for (const reason of this.#unhandled.splice(0))
      this.#promises.must(false, `no rejection is unhandled: ${String(reason)}`)
    this.#settled()
    if (this.#promises.broken.length > 0) throw new Error(this.#promises.broken.join('\n'))
  }
}
