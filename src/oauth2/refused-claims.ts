import { isTokenError, type TokenError } from '../core/errors.ts'
import { member } from '../core/thrown.ts'
import { memberOf, type Members } from './document.ts'

const CLAIMS = Symbol.for('axios-evergreen.claims')

/**
 * Notes the claims that a server requires of the next login (Microsoft Entra, `interaction_required`). They are the server's text: no message, event or
 * printed form contains them (F409).
 */
export function markClaims(error: TokenError, document: Members | undefined): void {
  const given = memberOf(document, 'claims')
  const claims = typeof given === 'object' ? JSON.stringify(given) : given
  // A function, and not enumerable, so that it is not printed.
  if (typeof claims === 'string') Object.defineProperty(error, CLAIMS, { value: () => claims })
}

/** @returns The claims of an error, or of the error that it was made from. */
export function claimsOf(error: unknown): string | undefined {
  const read = member(error, CLAIMS)
  if (typeof read === 'function') return String(Reflect.apply(read, error, []))
  const cause = member(error, 'cause')
  return isTokenError(cause) ? claimsOf(cause) : undefined
}
