import { ForeignReply, reasonIn } from '../store/reason.ts'

/** Advice by SQLSTATE code (PostgreSQL manual, appendix A). */
const ADVICE = {
  '25006': 'the server is read-only, connect to the primary',
  '28000': 'the server rejects this role, check the role and pg_hba.conf',
  '28P01': 'the server rejected the password',
  '3D000': 'the database does not exist, correct its name',
  '53300': 'no connection is available, make the pools smaller, or raise max_connections or the limit of the role',
  '55000': 'the server is a replica, connect to the primary',
  '55P03': 'the row has been locked for too long, check for open transactions, or raise lock_timeout',
  '57014': 'the statement was cancelled, check for locks on the table, or raise statement_timeout',
  '57P03': 'the server is starting up or shutting down',
  '42501': 'not permitted, grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema',
  '42P10': 'the column key of the table is not unique, run the statement that createTableStatement() returns',
  '42703': 'the table does not have the columns of createTableStatement()',
  '42P01': 'the table does not exist, run the statement that createTableStatement() returns',
}

/** Reasons for errors of the client `pg` without a code. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^Cannot use a pool after calling end/, 'the pool is closed'],
  [/^Query read timeout$/, 'no response within query_timeout'],
  [/timeout exceeded when trying to connect|connection timeout$/, 'no connection in time'],
  [/^Connection terminated/, 'the connection was lost'],
  [/^SASL: /, 'the password is missing or cannot be used'],
]

export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ForeignReply) return 'query(text, values) must return { rows } of objects, with text as strings'
  return reasonIn(thrown, ADVICE, (message) => MESSAGES.find(([words]) => words.test(message))?.[1])
}
