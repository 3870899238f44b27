import type { AdoptedGrant } from '../core/token-source.ts'

/** Identifies one call of `adopt(promise)`. */
export type Call = object

/** Callbacks of a promised login. */
interface Promised {
  /** The promise resolved with a login. */
  adopt(grant: AdoptedGrant, call: Call): Promise<unknown>
  /** The promise resolved with a login after a later act, which has precedence. */
  superseded(grant: AdoptedGrant): Promise<unknown>
  /** The promise rejected, or resolved without a login, and no other login is pending. */
  abandoned(): void
}

/**
 * Orders the acts `adopt`, `logout` and `reset`. A promised login counts from its call, and takes effect when the promise resolves. It is superseded if an act
 * that was called later has taken effect by then (F363).
 */
export class PendingLogins {
  /** The calls whose promises are neither settled nor superseded, oldest first. */
  readonly #pending = new Set<Call>()

  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Applies an act. @param call Its call, if the login was promised. Default: the act was called now. @returns Whether it superseded a pending login. */
  takesEffect(call?: Call): boolean {
    const before = this.#pending.size
    for (const one of this.#pending) {
      this.#pending.delete(one)
      if (one === call) break
    }
    return this.#pending.size < before
  }

  /** @throws What the promise rejects with, or what `adopt` throws. */
  async add(given: PromiseLike<AdoptedGrant | undefined>, promised: Promised): Promise<void> {
    const call: Call = {}
    this.#pending.add(call)
    let act: Promise<unknown> | undefined
    try {
      const grant = await given
      // The login stops being pending in the same turn in which its act begins, so no observer sees a moment between them.
      if (grant !== undefined) act = this.#pending.has(call) ? promised.adopt(grant, call) : promised.superseded(grant)
    } finally {
      if (this.#pending.delete(call) && !this.isPending) promised.abandoned()
    }
    await act
  }
}
