/** Collects broken promises. They are not thrown, because a manager catches what its source throws. */
export class Promises {
  readonly broken: string[] = []
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  must = (holds: boolean, promise: string): void => {
    if (!holds) this.broken.push(`at ${this.#now()} ms: ${promise}`)
  }
}
