import type { OriginBinding } from './origin-binding.ts'
import type { TokenAccess } from './token-access.ts'

/** Reports requests that went out without a token, so that users find the cause. */
export class UnauthenticatedRequests {
  readonly #origins = new Set<string>()
  readonly #leftover = new Set<TokenAccess>()

  /** Reports a request to another origin: once per origin, and a hundred origins at most. @param allowed The origins that may receive a token. */
  reportOrigin(where: string, allowed: Iterable<string>, accesses: Iterable<TokenAccess>): void {
    if (this.#origins.has(where) || this.#origins.size > 99) return
    const message = `A request to ${where} went out without a token: only ${[...allowed].join(', ')} may have it`
    const reported = Array.from(accesses, (access) => access.anomaly('origin-not-allowed', message))
    if (reported.includes(true)) this.#origins.add(where)
  }

  /** Reports a request whose own header cannot be intended: once per manager. */
  reportLeftover(value: unknown, { access, header }: OriginBinding<never>): void {
    if (this.#leftover.has(access) || !isLeftover(value)) return
    const message = `A request went out without a token: its own header ${header} has none, as in "Bearer undefined". Delete the code that sets it`
    if (access.anomaly('header-leftover', message)) this.#leftover.add(access)
  }
}

/** Whether the header is a scheme without a token, or with text such as `undefined`. An empty header is an opt-out (F108). */
function isLeftover(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^(?:bearer|dpop|token|jwt|(?:\S+ +)?(?:undefined|null|nan|\[object .*\]))$/i.test(value.trim())
  )
}
