import { reportSecondManager } from './second-manager.ts'
import { CREDENTIALS, SECOND_MANAGER, type TokenSource } from './token-source.ts'

/** Adds the symbol members of a source with credentials. Not as computed members of its class: bundlers keep such classes even if they are unused. */
export function attachCredentials(source: TokenSource, read: () => unknown, isServiceAccount = true): void {
  Object.defineProperty(source, CREDENTIALS, { value: read })
  if (isServiceAccount) Object.defineProperty(source, SECOND_MANAGER, { value: reportSecondManager })
}
