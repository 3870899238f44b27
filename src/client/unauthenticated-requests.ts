import type { OriginBinding } from './origin-binding.ts'
import type { TokenAccess } from './token-access.ts'

/** What is told of the requests that went out without a token, so that users find the cause. */
export class UnauthenticatedRequests {
  readonly #origins = new Set<string>()
  readonly #leftover = new Set<TokenAccess>()

  isReported(where: string): boolean {
    return this.#origins.has(where) || this.#origins.size > 99
  }

  /** Of a request to another origin. Each origin is told once, and a hundred at most. @param allowed The origins that may have a token. */
  tell(where: string, allowed: Iterable<string>, accesses: Iterable<TokenAccess>): void {
    if (this.isReported(where)) return
    const message = `A request to ${where} went out without a token: only ${[...allowed].join(', ')} may have it`
    const heard = Array.from(accesses, (access) => access.anomaly('origin-not-allowed', message))
    if (heard.includes(true)) this.#origins.add(where)
  }

  /** Of a request that has the header already. It is told once for each manager if that header cannot be meant. */
  reportLeftover(value: unknown, { access, header }: OriginBinding<never>): void {
    if (this.#leftover.has(access) || !isLeftover(value)) return
    const message = `A request went out without a token: its own header ${header} holds none, such as "Bearer undefined". Take off the code that sets it`
    if (access.anomaly('header-leftover', message)) this.#leftover.add(access)
  }
}

/** A scheme with nothing behind it, or with the text of a value that is no token. */
function isLeftover(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^(?:bearer|dpop|token|jwt|(?:\S+ +)?(?:undefined|null|nan|\[object .*\]))$/i.test(value.trim())
  )
}
