import type { Clock } from './clock.ts'
import type { Work } from './work.ts'

/** The renewal was halted: its result is not used. */
export class Halted extends Error {}

/** Why a renewal is halted. `closed`: the tokens that its exchange brings are stored. `outdated`: they are dropped. */
export type Halt = 'outdated' | 'closed'

/** What the pauses of a renewal, or of a logout, need to know of it. */
interface Paused {
  readonly clock: Clock
  /** A pause is no work. */
  readonly work?: Work
  /** Whether a caller wants the result. */
  readonly isWanted?: () => boolean
  readonly holdsProcess?: boolean
}

/** The pauses of one renewal, or of one logout, one at a time. A halted renewal makes no further pause. */
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

  /** @throws {Halted} if the renewal is halted. */
  check(): void {
    if (this.#halt) throw new Halted()
  }

  halt(why: Halt): void {
    this.#halt = why
    this.end()
  }

  /** @param canHurry Whether `hurry()` ends the pause. @throws {Halted} at the end, if the renewal is halted, or no caller wants its result any more. */
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
