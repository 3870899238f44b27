import type { Clock } from './clock.ts'
import { Halted } from './renewal-endings.ts'

/** The pauses of one renewal, one at a time. */
export class Pauses {
  readonly #clock: Clock
  #isHalted = false
  #end: (() => void) | undefined
  #canHurry = () => false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param canHurry Whether `hurry()` ends the pause. @throws {Halted} as soon as the renewal is halted. */
  async for(ms: number, canHurry = () => false): Promise<void> {
    if (ms > 0 && !this.#isHalted) {
      this.#canHurry = canHurry
      await new Promise<void>((resolve) => {
        const cancel = this.#clock.setTimer(resolve, ms)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
    }
    if (this.#isHalted) throw new Halted()
  }

  halt(): void {
    this.#isHalted = true
    this.end()
  }

  hurry(): void {
    if (this.#canHurry()) this.end()
  }

  end(): void {
    this.#end?.()
  }
}
