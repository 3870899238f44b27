import { isTokenError, type TokenError } from '../core/errors.ts'
import { member } from '../core/thrown.ts'
import { CLAIMS } from '../core/token-source.ts'
import { memberOf, type Members } from './document.ts'

/**
 * Adds to an error the claims that the server requires of the next login (Microsoft Entra, `interaction_required`). They are the server's text: no message,
 * event or printed form contains them (F409).
 */
export function markClaims(error: TokenError, document: Members | undefined): void {
  const given = memberOf(document, 'claims')
  // A function, and not enumerable, so that it is not printed.
  Object.defineProperty(error, CLAIMS, { value: () => (typeof given === 'object' ? JSON.stringify(given) : given) })
}

/** @returns The claims of an error, or of its `cause`. */
export function claimsOf(error: unknown): string | undefined {
  const read = member(error, CLAIMS)
  if (typeof read === 'function') return String(Reflect.apply(read, error, []))
  const cause = member(error, 'cause')
  return isTokenError(cause) ? claimsOf(cause) : undefined
}
