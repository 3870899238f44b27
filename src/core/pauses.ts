import type { Clock } from './clock.ts'

/** What a halted renewal rejects with; nobody sees it. */
export class Halted extends Error {}

/** The pauses of one renewal, one at a time. */
export class Pauses {
  readonly #clock: Clock
  #isHalted = false
  #halt: () => void = () => undefined
  #hurry: () => void = () => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws {Halted} at once when the renewal is halted, or was. */
  for(ms: number): Promise<void> {
    return this.#pause(ms, false)
  }

  /** As `for`, but ends when somebody hurries. */
  untilHurried(ms: number): Promise<void> {
    return this.#pause(ms, true)
  }

  halt(): void {
    this.#isHalted = true
    this.#halt()
  }

  hurry(): void {
    this.#hurry()
  }

  #pause(ms: number, hurried: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#isHalted) {
        reject(new Halted())
        return
      }
      if (ms <= 0) {
        resolve()
        return
      }
      const cancel = this.#clock.setTimer(resolve, ms)
      const end = (): void => {
        cancel()
        resolve()
      }
      this.#hurry = hurried ? end : () => undefined
      this.#halt = () => {
        cancel()
        reject(new Halted())
      }
    })
  }
}
