import { ForeignReply, reasonIn } from '../store/reason.ts'

/** Advice by SQLSTATE code (PostgreSQL manual, appendix A). */
const ADVICE = {
  '25006': 'the server is read-only, connect to the primary',
  '28000': 'the server does not let this role in, correct the role, or pg_hba.conf',
  '28P01': 'the server refused the password',
  '3D000': 'the database does not exist, correct its name',
  '53300': 'no connection is left, make the pools smaller, or raise max_connections or the limit of the role',
  '55000': 'the server is a replica, connect to the primary',
  '55P03': 'the row is locked for too long, look for open transactions, or raise lock_timeout',
  '57014': 'the statement was cancelled, look for locks on the table, or raise statement_timeout',
  '57P03': 'the server starts or stops',
  '42501': 'not permitted, grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema',
  '42P10': 'the column key of the table is not unique, run the statement that createTableStatement() returns',
  '42703': 'the table has other columns than createTableStatement() makes',
  '42P01': 'the table does not exist, run the statement that createTableStatement() returns',
}

/** Reasons for errors of the client `pg` that carry no code. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^Cannot use a pool after calling end/, 'the pool is closed'],
  [/^Query read timeout$/, 'no answer within query_timeout'],
  [/timeout exceeded when trying to connect|connection timeout$/, 'no connection in time'],
  [/^Connection terminated/, 'the connection was lost'],
  [/^SASL: /, 'the password is missing or cannot be used'],
]

export function reasonOf(thrown: unknown): string {
  if (thrown instanceof ForeignReply)
    return 'query(text, values) must answer { rows } of objects, with texts as strings'
  return reasonIn(thrown, ADVICE, (message) => WORDS.find(([words]) => words.test(message))?.[1])
}
