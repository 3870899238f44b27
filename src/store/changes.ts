import type { TokenRegister } from './token-register.ts'

/** The number of listeners above which dead ones are removed. */
const FEWEST = 1_000

/** Notifies the owners of a key that its value may have changed. The register has a single watcher for all owners. */
export class Changes {
  readonly #register: TokenRegister
  /** Held weakly: a server may drop the managers of its requests without closing them. */
  readonly #byKey = new Map<string, Set<WeakRef<() => void>>>()
  #size = 0
  #most = FEWEST
  #stop: (() => void) | undefined

  constructor(register: TokenRegister) {
    this.#register = register
  }

  /** Whether no change is missed at the moment. */
  get areComplete(): boolean {
    return this.#stop !== undefined && this.#register.isWatching?.() === true
  }

  /** @param listener Called until it is removed or garbage-collected. @returns A function that removes it. */
  on(key: string, listener: () => void): () => void {
    const listeners = this.#byKey.get(key) ?? new Set()
    const reference = new WeakRef(listener)
    this.#byKey.set(key, listeners.add(reference))
    this.#size += 1
    if (this.#size > this.#most) this.#sweep()
    this.#stop ??= this.#register.watch?.((changed) => this.#notify(changed))
    return () => {
      this.#remove(key, reference)
      if (this.#size > 0) return
      this.#stop?.()
      this.#stop = undefined
    }
  }

  /** @param key Undefined: any value may have changed. */
  #notify(key: string | undefined): void {
    const keys = key === undefined ? [...this.#byKey.keys()] : [key]
    for (const each of keys) for (const reference of [...(this.#byKey.get(each) ?? [])]) reference.deref()?.()
  }

  #sweep(): void {
    for (const [key, listeners] of this.#byKey)
      for (const reference of listeners) if (!reference.deref()) this.#remove(key, reference)
    this.#most = Math.max(FEWEST, 2 * this.#size)
  }

  #remove(key: string, reference: WeakRef<() => void>): void {
    const listeners = this.#byKey.get(key)
    if (!listeners?.delete(reference)) return
    this.#size -= 1
    if (listeners.size === 0) this.#byKey.delete(key)
  }
}
