import type { AdoptedGrant } from '../core/token-source.ts'

/** Callbacks of a promised login. */
interface Promised {
  /** The promise resolved with a login. `order` is that of the call. */
  adopt(grant: AdoptedGrant, order: number): Promise<unknown>
  /** The promise resolved with a login after a later act, which has precedence. */
  superseded(grant: AdoptedGrant): Promise<unknown>
  /** The promise resolved without a login, and no other login is pending. */
  abandoned(): void
}

/**
 * Orders the acts `adopt`, `logout` and `reset`. A promised login counts from its call, and takes effect when the promise settles. It is superseded if an act
 * that was called later has taken effect by then (F363).
 */
export class PendingLogins {
  #calls = 0
  /** The orders of promises that are neither settled nor superseded. */
  readonly #pending = new Set<number>()

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Applies an act. @param order The order of its call. Default: called now. @returns Whether it superseded a pending login. */
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
      // The promise ends in the same turn in which its act begins, so no observer sees a moment between them.
      if (grant !== undefined)
        act = this.#pending.has(order) ? promised.adopt(grant, order) : promised.superseded(grant)
    } finally {
      if (this.#pending.delete(order) && !this.isPending) promised.abandoned()
    }
    await act
  }
}
