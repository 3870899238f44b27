import type { Clock } from './clock.ts'
import type { Work } from './work.ts'

/** The renewal was halted: its result reaches nobody. */
export class Halted extends Error {}

/** Why a renewal is halted. `closed`: the tokens that its exchange brings are stored. `outdated`: they are dropped. */
export type Halt = 'outdated' | 'closed'

/** What the pauses of a renewal need to know of it. */
export interface Paused {
  readonly clock: Clock
  /** A pause is no work. */
  readonly work: Work
  /** Whether anybody wants the result. */
  readonly isWanted: () => boolean
}

/** The pauses of one renewal, one at a time. A halted renewal makes no further pause. */
export class Pauses {
  readonly #paused: Paused
  #halt: Halt | undefined
  #end: (() => void) | undefined
  #canHurry = () => false

  constructor(paused: Paused) {
    this.#paused = paused
  }

  get halted(): Halt | undefined {
    return this.#halt
  }

  /** A method, because TypeScript assumes that a field does not change during an await. */
  isHalted(why?: Halt): boolean {
    return why === undefined ? this.#halt !== undefined : this.#halt === why
  }

  /** @throws {Halted} if the renewal is halted. */
  check(): void {
    if (this.#halt) throw new Halted()
  }

  halt(why: Halt): void {
    this.#halt = why
    this.end()
  }

  /** @param canHurry Whether `hurry()` ends the pause. @throws {Halted} at the end, if the renewal is halted, or nobody wants its result any more. */
  async for(ms: number, canHurry = () => false): Promise<void> {
    const { clock, work, isWanted } = this.#paused
    if (ms > 0 && !this.#halt) {
      this.#canHurry = canHurry
      work.end()
      await new Promise<void>((resolve) => {
        const cancel = clock.setTimer(resolve, ms)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
      work.begin()
    }
    this.check()
    if (!isWanted()) throw new Halted()
  }

  hurry(): void {
    if (this.#canHurry()) this.end()
  }

  end(): void {
    this.#end?.()
  }
}
