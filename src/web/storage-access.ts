import { NoAnswer } from '../store/reason.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { NO_ANSWER, reasonOf } from './reason.ts'

/** What the steps of a register say about the storage of this page. */
export class StorageAccess {
  #hasWorked = false
  #lack: string | undefined
  #isReadOnly = false
  /** Steps without an answer. */
  #pending = 0

  /** Whether this page has ever changed its storage. */
  get hasWorked(): boolean {
    return this.#hasWorked
  }

  /** Why the last step failed. Undefined: it worked. */
  get lack(): string | undefined {
    return this.#lack
  }

  /** @returns The register, whose steps are noted from now on. */
  watched(register: TokenRegister): TokenRegister {
    return {
      ...register,
      read: async (key) => {
        const reading = await this.#answered(() => register.read(key))
        // A storage that is full can still be read.
        if (!this.#isReadOnly) this.#lack = undefined
        return reading
      },
      replace: async (...given) => {
        this.#isReadOnly = true
        const replaced = await this.#answered(() => register.replace(...given))
        this.#isReadOnly = false
        this.#hasWorked = true
        this.#lack = undefined
        return replaced
      },
    }
  }

  /** No page waits twice for a storage that gives no answer. */
  async #answered<Answer>(step: () => Promise<Answer>): Promise<Answer> {
    if (this.#lack !== undefined && this.#pending > 0) throw new NoAnswer(NO_ANSWER)
    this.#pending += 1
    try {
      return await step()
    } finally {
      this.#pending -= 1
    }
  }

  /** @returns Why a step failed. */
  failed(thrown: unknown): string {
    return (this.#lack = reasonOf(thrown))
  }
}
