import { reportSecondManager } from './second-manager.ts'
import { CREDENTIALS, SECOND_MANAGER, type TokenSource } from './token-source.ts'

/**
 * Adds the symbol members of a source. They are not computed members of its class, because bundlers keep such classes even if they are unused.
 *
 * @param isNamed Whether `source.id` names one account or login.
 */
export function attachCredentials(source: TokenSource, read: () => unknown, isNamed = true): void {
  Object.defineProperty(source, CREDENTIALS, { value: read })
  if (isNamed) Object.defineProperty(source, SECOND_MANAGER, { value: reportSecondManager })
}
