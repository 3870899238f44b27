import { reasonIn } from '../store/reason.ts'

/** Advice by SQLSTATE code (PostgreSQL manual, appendix A). */
const ADVICE = {
  '25006': 'the server is read-only, connect to the primary',
  '28P01': 'the server refused the password',
  '55000': 'the server is a replica, connect to the primary',
  '42501': 'not permitted, grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema',
  '42703': 'the table has other columns than createTableStatement() makes',
  '42P01': 'the table does not exist, run the statement that createTableStatement() returns',
}

/** Reasons for errors of the client `pg` that carry no code. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Cannot use a pool after calling end/, 'the pool is closed'],
  [/timeout exceeded when trying to connect|connection timeout$/, 'no connection in time'],
  [/^Connection terminated/, 'the connection was lost'],
  [/^SASL: /, 'the password is missing or cannot be used'],
]

export const reasonOf = (thrown: unknown): string =>
  reasonIn(thrown, ADVICE, (message) => WORDS.find(([words]) => words.test(message))?.[1])
