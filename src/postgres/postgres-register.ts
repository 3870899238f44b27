import { ForeignAnswer } from '../store/reason.ts'
import type { RegisterReading, TokenRegister } from '../store/token-register.ts'
import { DEFAULT_TABLE, quoted } from './table.ts'

/** A `pg` Pool, or anything that runs one statement in a transaction of its own. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: readonly unknown[] }>
}

/**
 * A register in PostgreSQL 12 or newer: one row of a table per key. Each step is one statement, so it happens completely or not at all.
 *
 * @param pool Must lead to the primary server: a replica returns old values.
 * @throws {TypeError} naming the option.
 */
export function postgresRegister(pool: PostgresClient, table: string = DEFAULT_TABLE): TokenRegister {
  if (typeof (pool as Partial<PostgresClient> | undefined)?.query !== 'function')
    throw new TypeError(
      'pool must have a method query(text, values), as a Pool of pg has; for a client of postgres pass ' +
        '{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }',
    )
  const { read, insert, update } = statementsFor(quoted(table))

  async function rowsOf(text: string, values: unknown[]): Promise<readonly unknown[]> {
    const answer = (await pool.query(text, values)) as { rows?: unknown } | undefined
    if (!Array.isArray(answer?.rows)) throw new ForeignAnswer('query(text, values) must answer { rows }')
    return answer.rows as unknown[]
  }

  return {
    kind: 'postgres',

    async read(key): Promise<RegisterReading> {
      const [row] = await rowsOf(read, [key])
      const { now: found, value } = (row ?? {}) as { now?: unknown; value?: unknown }
      const now = Number(found)
      if (Number.isNaN(now)) throw new ForeignAnswer('query(text, values) must answer rows that are objects')
      if (typeof (value ?? '') !== 'string') throw new ForeignAnswer('query(text, values) must answer texts as strings')
      return { now, ...(typeof value === 'string' && { value }) }
    },

    async replace(key, expected, value, keepMs) {
      const values = [key, value, keepMs]
      try {
        const put = expected === undefined ? rowsOf(insert, values) : rowsOf(update, [...values, expected])
        return (await put).length > 0
      } catch (thrown) {
        if (isSerializationFailure(thrown)) return false
        throw thrown
      }
    },
  }
}

/** `insert` and `update` return a row if they stored the value. */
function statementsFor(table: string) {
  const end = `clock_timestamp() + $3::float8 * interval '1 millisecond'`
  return {
    // float8, because clients read bigint and numeric as text.
    read:
      `SELECT round(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now, ` +
      `(SELECT value FROM ${table} WHERE key = $1 AND keep_until > clock_timestamp()) AS value`,
    insert:
      `INSERT INTO ${table} AS stored (key, value, keep_until) VALUES ($1, $2, ${end}) ` +
      `ON CONFLICT (key) DO UPDATE SET value = excluded.value, keep_until = excluded.keep_until ` +
      `WHERE stored.keep_until <= clock_timestamp() RETURNING key`,
    update:
      `UPDATE ${table} SET value = $2, keep_until = ${end} ` +
      `WHERE key = $1 AND value = $4 AND keep_until > clock_timestamp() RETURNING key`,
  }
}

/**
 * At isolation levels above READ COMMITTED the slower of two concurrent statements fails with 40001, and has stored nothing. At
 * SERIALIZABLE the faster statement may have changed another key of a small table.
 */
function isSerializationFailure(thrown: unknown): boolean {
  return (thrown as { code?: unknown } | undefined)?.code === '40001'
}
