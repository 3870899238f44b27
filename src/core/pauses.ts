import type { Clock } from './clock.ts'
import type { Work } from './work.ts'

/** Thrown if the renewal was halted. Its result is not used. */
export class Halted extends Error {}

/** Why a renewal is halted. The record still gets the tokens of its exchange. `outdated`: this manager does not use them, because an act superseded it. */
export type Halt = 'outdated' | 'closed'

/** The renewal or logout that pauses. */
interface Paused {
  readonly clock: Clock
  /** The work of the manager. A pause does not count as work. */
  readonly work?: Work
  /** Whether a caller wants the result. */
  readonly isWanted?: () => boolean
  readonly holdsProcess?: boolean
}

/** The pauses of one renewal or one logout, one at a time. A halted renewal does not pause again. */
export class Pauses {
  readonly #paused: Paused
  #halt: Halt | undefined
  #end: (() => void) | undefined
  #canHurry = () => false

  constructor(paused: Paused) {
    this.#paused = paused
  }

  /** A method, because TypeScript assumes that a field does not change during an await. */
  halted(): Halt | undefined {
    return this.#halt
  }

  /** @throws {Halted} If the renewal is halted. */
  check(): void {
    if (this.#halt) throw new Halted()
  }

  halt(why: Halt): void {
    this.#halt = why
    this.end()
  }

  /** Pauses. @param canHurry Whether `hurry()` ends the pause. @throws {Halted} After the pause, if the renewal is halted or no caller wants its result. */
  async for(ms: number, canHurry = () => false): Promise<void> {
    const { clock, work, isWanted, holdsProcess } = this.#paused
    if (ms > 0 && !this.#halt) {
      this.#canHurry = canHurry
      work?.end()
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(resolve, ms, holdsProcess)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
      work?.begin()
    }
    this.check()
    if (isWanted?.() === false) throw new Halted()
  }

  hurry(): void {
    if (this.#canHurry()) this.end()
  }

  end(): void {
    this.#end?.()
  }
}
