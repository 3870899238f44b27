import type { AdoptedGrant } from '../core/token-source.ts'

/** Logins that are under way: promises that `adopt()` was given, and that have not settled. */
export class UnderWay {
  #count = 0

  get isPending(): boolean {
    return this.#count > 0
  }

  /**
   * @param adopt Is called at the moment at which the promise brings a login.
   * @param missed Is called if no login came, and none is under way any more.
   * @throws What the promise rejects with, and what `adopt` throws.
   */
  async add(
    given: PromiseLike<AdoptedGrant | undefined>,
    adopt: (grant: AdoptedGrant) => Promise<unknown>,
    missed: () => void,
  ): Promise<void> {
    this.#count += 1
    let act: Promise<unknown> | undefined
    try {
      let grant: AdoptedGrant | undefined
      try {
        grant = await given
      } finally {
        // In the turn in which the act begins: nobody sees a moment between them.
        this.#count -= 1
      }
      act = grant === undefined ? undefined : adopt(grant)
    } finally {
      if (!act && !this.isPending) missed()
    }
    await act
  }
}
