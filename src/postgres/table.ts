import { shown } from '../core/option-checks.ts'

export const DEFAULT_TABLE = 'evergreen_tokens'

/** PostgreSQL cuts longer names off, and two tables would be one. */
const NAME = /^(?:[a-z_][a-z0-9_$]{0,62}\.)?[a-z_][a-z0-9_$]{0,62}$/i

/**
 * The statement that makes the table in which `postgresStore` shares tokens. Put it in your migrations; it may be run again.
 *
 * @example
 * ```ts
 * import { createTableStatement } from 'axios-evergreen/postgres'
 * import { Pool } from 'pg'
 *
 * await new Pool().query(createTableStatement('auth.evergreen_tokens'))
 * ```
 * @param table Name of the table, or `schema.table`; the schema must exist. Capital letters count. Default `evergreen_tokens`.
 * @returns `CREATE TABLE IF NOT EXISTS …`. Whoever shares tokens needs SELECT, INSERT and UPDATE on that table. Rows whose
 *   `keep_until` has passed are not read any more: delete them whenever you like.
 * @throws {TypeError} when it is no such name.
 */
export function createTableStatement(table: string = DEFAULT_TABLE): string {
  // COLLATE "C": an index by another order of letters is corrupt after an update of the system's locales, and a unique key then
  // is not unique.
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  key text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  keep_until timestamptz NOT NULL
)`
}

/** @throws {TypeError} unless it is `table` or `schema.table`: it becomes part of statements. */
export function quoted(table: string): string {
  if (typeof table !== 'string' || !NAME.test(table))
    throw new TypeError(`table must be a name such as ${DEFAULT_TABLE} or auth.${DEFAULT_TABLE}, got ${shown(table)}`)
  return table.replace(/[^.]+/g, '"$&"')
}
