/** What a manager has begun and not ended: claims, exchanges, and the storing of what they bring. The pauses of a renewal are no work. */
export class Work {
  #count = 0
  /** Resolves at the next moment without work. */
  #ended: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    this.#ended?.resolve()
    this.#ended = undefined
  }

  /** Resolves when nothing is under way. */
  async ended(): Promise<void> {
    // One renewal may begin in the same moment in which another one ends.
    while (this.#count > 0) await (this.#ended ??= deferred()).promise
  }
}

function deferred() {
  let resolve = (): void => undefined
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
