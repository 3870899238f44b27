/** What a manager has begun and not ended: claims, exchanges, and the storing of what they bring. The pauses of a renewal are no work. */
export class Work {
  #count = 0
  /** Those who wait for the next moment without work. */
  readonly #waiting: (() => void)[] = []

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when nothing is under way. */
  async ended(): Promise<void> {
    // One renewal may begin in the same moment in which another one ends.
    while (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
