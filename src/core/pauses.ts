import type { Clock } from './clock.ts'
import { Halted } from './renewal-endings.ts'

/** The pauses of one renewal, one at a time. */
export class Pauses {
  readonly #clock: Clock
  readonly #isHalted: () => boolean
  #end: (() => void) | undefined
  #canHurry = () => false

  /** @param isHalted Whether the renewal is halted: then it makes no further pause. */
  constructor(clock: Clock, isHalted: () => boolean) {
    this.#clock = clock
    this.#isHalted = isHalted
  }

  /** @param canHurry Whether `hurry()` ends the pause. @throws {Halted} at the end, if the renewal is halted. */
  async for(ms: number, canHurry = () => false): Promise<void> {
    if (ms > 0 && !this.#isHalted()) {
      this.#canHurry = canHurry
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.setTimer(resolve, ms)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
    }
    if (this.#isHalted()) throw new Halted()
  }

  hurry(): void {
    if (this.#canHurry()) this.end()
  }

  end(): void {
    this.#end?.()
  }
}
