/** Counts a manager's operations in flight: leases, exchanges, and writes of their results. The pauses of a renewal do not count. */
export class Work {
  #count = 0
  /** Resolvers of callers who wait until nothing is in flight. */
  readonly #waiting: (() => void)[] = []

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when nothing is in flight. */
  async ended(): Promise<void> {
    // A renewal may begin at the moment when another one ends.
    while (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
