/** What to do about some SQLSTATE codes (PostgreSQL manual, appendix A). */
const ADVICE: Readonly<Record<string, string>> = {
  '25006': 'the server is read-only, connect to the primary',
  '28P01': 'the server refused the password',
  '42501': 'not permitted, grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema',
  '42703': 'the table has other columns than createTableStatement() makes',
  '42P01': 'the table does not exist, run what createTableStatement() returns',
}

/** What the client `pg` reports without a code. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Cannot use a pool after calling end/, 'the pool is closed'],
  [/timeout exceeded when trying to connect|connection timeout$/, 'no connection in time'],
  [/^Connection terminated/, 'the connection was lost'],
  [/^SASL: /, 'the password is missing or cannot be used'],
]

/** The client answered something else than `{ rows }`. */
export class ForeignAnswer extends Error {}

/** @returns Why a statement failed, without what may be secret: messages of clients quote addresses, users and values. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ForeignAnswer) return thrown.message
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown }
  if (typeof code === 'string' && /^[A-Z_0-9]+$/.test(code)) return code in ADVICE ? `${code}: ${ADVICE[code]}` : code
  return WORDS.find(([words]) => typeof message === 'string' && words.test(message))?.[1] ?? 'the client failed'
}
