import { meetOthers } from './second-manager.ts'
import { CREDENTIALS, SERVICE_ACCOUNT, type TokenSource } from './token-source.ts'

/** @param read Gives them. No accessor of the class of the source: bundlers keep every class that has a computed name, also where nobody uses it. */
export function tellsCredentials(source: TokenSource, read: () => unknown, isServiceAccount = true): void {
  Object.defineProperty(source, CREDENTIALS, { value: read })
  if (isServiceAccount) Object.defineProperty(source, SERVICE_ACCOUNT, { value: meetOthers })
}
