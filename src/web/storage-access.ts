import { NoReply } from '../store/reason.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { NO_RESPONSE, reasonOf } from './reason.ts'

/** Infers from the steps of a register whether the browser denies this page its storage. */
export class StorageAccess {
  /** The storage has responded to a step. */
  #hasResponded = false
  /** This page has changed its storage, or has found tokens in it. */
  #hasWorked = false
  #lack: string | undefined
  /** The last failed step had no response. */
  #isSilent = false
  #isReadOnly = false
  /**
   * Whether a promised key turned out to be one that only this page has. Storage then counts as denied: a record sealed with that key would lock out all other
   * tabs. No step begins before the key is known.
   */
  hasPageKey = false
  /** Steps that have got no response yet. */
  #pending = 0

  /**
   * Why the browser denies this page its storage. Undefined: it does not. Storage that has worked before is never denied: it is temporarily unavailable, and
   * may hold a login (F356). Full storage can be read. If this page has found no tokens in it, it counts as denied.
   */
  get denial(): string | undefined {
    return (this.#isSilent ? this.#hasResponded : this.#hasWorked) ? undefined : this.#lack
  }

  /** @returns The register, whose steps are observed from now on. */
  watched(register: TokenRegister): TokenRegister {
    return {
      ...register,
      read: async (key) => {
        const reading = await this.#observed(() => register.read(key))
        this.#hasWorked ||= reading.value !== undefined
        // Full storage can still be read.
        if (!this.#isReadOnly) this.#lack = undefined
        return reading
      },
      replace: async (...given) => {
        this.#isReadOnly = true
        const replaced = await this.#observed(() => register.replace(...given))
        this.#isReadOnly = false
        this.#hasWorked = true
        this.#lack = undefined
        return replaced
      },
    }
  }

  /**
   * Runs a step. Storage that has never responded, and left the last failed step without a response, gets no second step while one is pending: that step
   * rejects at once.
   */
  async #observed<Result>(step: () => Promise<Result>): Promise<Result> {
    if (this.hasPageKey) throw new DOMException('', 'SecurityError')
    if (!this.#hasResponded && this.#isSilent && this.#pending > 0) throw new NoReply(NO_RESPONSE)
    this.#pending += 1
    try {
      const result = await step()
      this.#hasResponded = true
      return result
    } finally {
      this.#pending -= 1
    }
  }

  /** Records that a step failed. @returns Why. */
  failed(thrown: unknown): string {
    this.#isSilent = thrown instanceof NoReply
    return (this.#lack = reasonOf(thrown))
  }
}
