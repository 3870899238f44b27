import type { AdoptedGrant } from '../core/token-source.ts'

/** What follows a promised login. */
interface Promised {
  /** The promise brings a login. `order` is that of the call. */
  adopt(grant: AdoptedGrant, order: number): Promise<unknown>
  /** The promise brings a login after a later act, which stands. */
  overtaken(grant: AdoptedGrant): Promise<unknown>
  /** No login came, and none is pending any more. */
  missed(): void
}

/**
 * The order of acts: `adopt`, `logout`, `reset`. A promised login is an act of its call, and takes effect when it settles. An act of a later call that has
 * taken effect by then stands over it (F363).
 */
export class PendingLogins {
  #calls = 0
  /** The order of the promises that have not settled, and that no later act has overtaken. */
  readonly #pending = new Set<number>()

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** An act takes effect. @param order That of its call. Default: it is called now. @returns Whether it overtakes a login that was pending. */
  takesEffect(order = (this.#calls += 1)): boolean {
    const before = this.#pending.size
    for (const one of this.#pending) if (one <= order) this.#pending.delete(one)
    return this.#pending.size < before
  }

  /** @throws What the promise rejects with, and what `adopt` throws. */
  async add(given: PromiseLike<AdoptedGrant | undefined>, promised: Promised): Promise<void> {
    const order = (this.#calls += 1)
    this.#pending.add(order)
    let act: Promise<unknown> | undefined
    try {
      const grant = await given
      // The promise is no longer pending in the turn in which its act begins: nobody sees a moment between them.
      if (grant !== undefined) act = this.#pending.has(order) ? promised.adopt(grant, order) : promised.overtaken(grant)
    } finally {
      if (this.#pending.delete(order) && !this.isPending) promised.missed()
    }
    await act
  }
}
