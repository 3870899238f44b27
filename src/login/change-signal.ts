/** Lets any number of callers wait for the next change. */
export class ChangeSignal {
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
