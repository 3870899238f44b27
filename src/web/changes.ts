/** Resolves all waiting promises at each change. */
export class Changes {
  #next: Promise<void> | undefined
  #report: () => void = () => undefined

  next(): Promise<void> {
    return (this.#next ??= new Promise((resolve) => (this.#report = resolve)))
  }

  report(): void {
    this.#report()
    this.#next = undefined
  }
}
