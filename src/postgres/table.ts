import { shown } from '../core/option-checks.ts'

export const DEFAULT_TABLE = 'evergreen_tokens'

/** PostgreSQL truncates longer names, so two names could refer to the same table. */
const NAME = /^(?:[a-z_][a-z0-9_$]{0,62}\.)?[a-z_][a-z0-9_$]{0,62}$/i

/**
 * The statement that creates the table in which `postgresStore` shares tokens. Add it to your migrations. It can be run repeatedly.
 *
 * @example
 * ```ts
 * import { createTableStatement } from 'axios-evergreen/postgres'
 * import { Pool } from 'pg'
 *
 * await new Pool().query(createTableStatement('auth.evergreen_tokens'))
 * ```
 * @param table Name of the table, or `schema.table`; the schema must exist. Case-sensitive. Default `evergreen_tokens`.
 * @returns `CREATE TABLE IF NOT EXISTS …`. The database user of the store needs SELECT, INSERT and UPDATE on that table. The store
 *   ignores rows whose `keep_until` has passed, so you can delete them at any time.
 * @throws {TypeError} if `table` is not a valid name.
 */
export function createTableStatement(table: string = DEFAULT_TABLE): string {
  // COLLATE "C": after an update of the system's locales, an index with another collation can be corrupt, and the key is then no longer unique.
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  key text COLLATE "C" PRIMARY KEY,
  value text NOT NULL,
  keep_until timestamptz NOT NULL
)`
}

/** @returns The name, quoted for a statement. @throws {TypeError} unless the name is `table` or `schema.table`. */
export function quoted(table: string): string {
  if (typeof table !== 'string' || !NAME.test(table))
    throw new TypeError(`table must be a name such as ${DEFAULT_TABLE} or auth.${DEFAULT_TABLE}, got ${shown(table)}`)
  return table.replace(/[^.]+/g, '"$&"')
}
