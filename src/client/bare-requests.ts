import type { TokenAccess } from './token-access.ts'

/** The origins of requests that went out without a token, so that users find the cause. Each is told once, and a hundred at most. */
export class BareRequests {
  readonly #told = new Set<string>()

  isTold(where: string): boolean {
    return this.#told.has(where) || this.#told.size > 99
  }

  /** @param allowed The origins that may have a token. */
  tell(where: string, allowed: Iterable<string>, accesses: Iterable<TokenAccess>): void {
    if (this.isTold(where)) return
    const message = `A request to ${where} went out without a token: only ${[...allowed].join(', ')} may have it`
    const heard = Array.from(accesses, (access) => access.anomaly('origin-not-allowed', message))
    if (heard.includes(true)) this.#told.add(where)
  }
}
