import { NoReply } from '../store/reason.ts'

export const NO_RESPONSE = 'IndexedDB does not respond: reload the page, or restart the browser'

const ADVICE: Readonly<Record<string, string>> = {
  QuotaExceededError: 'the storage of this site is full: free some of it',
  UnknownError: 'the browser cannot open the storage of this site: allow cookies and site data, and free some space',
  SecurityError: 'the browser denies this site its storage: allow cookies and site data',
  VersionError: 'another script has a newer database named axios-evergreen: delete it',
  NotFoundError: 'another script has a database named axios-evergreen: delete it',
}

/** @returns Why a step in IndexedDB failed. The names of its errors are standardised, their messages are not. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof NoReply) return NO_RESPONSE
  const { name } = (thrown ?? {}) as { name?: unknown }
  if (typeof name !== 'string' || !/^\w{1,40}$/.test(name)) return 'IndexedDB failed'
  return Object.hasOwn(ADVICE, name) ? `${name}: ${ADVICE[name]}` : `IndexedDB failed with ${name}`
}
