import { member } from '../core/thrown.ts'
import { bare } from '../core/whole.ts'
import { ForeignReply } from '../store/reason.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { CHANNEL, listening, type PostgresListener } from './listener.ts'
import { DEFAULT_TABLE, quoted } from './table.ts'

/** A `pg` Pool, or any object that runs each statement in its own transaction. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: readonly unknown[] }>
  /** The `max` of a pg Pool is its number of connections. The store sends at most that many statements at once. */
  readonly options?: { readonly max?: number | undefined } | undefined
}

interface Row {
  readonly now: number
  readonly value: string | null
  readonly epoch: string
  readonly replica: boolean
}

/**
 * A register in PostgreSQL 12 or newer: one row of a table per key. Each step is one statement, so it is atomic.
 *
 * @param pool Must connect to the primary server: a replica returns old values.
 * @throws {TypeError} naming the option.
 */
export function postgresRegister(
  pool: PostgresClient,
  table: string = DEFAULT_TABLE,
  listener?: PostgresListener,
): TokenRegister {
  checkClient(pool)
  const { read, readWithoutEpoch, replacing } = statementsFor(
    quoted(table),
    listener ? `key, pg_notify('${CHANNEL}', key)` : 'key',
  )
  /** @returns The rows; undefined if the client returns anything else, which the store reports. */
  const rowsOf: Query = async (text, values) =>
    ((await pool.query(text, values)) as { rows: unknown[] } | undefined)?.rows
  const rowOf = rowReader(rowsOf, read, readWithoutEpoch)

  return {
    kind: 'postgres',
    ...(listener && listening(listener)),
    capacity: connectionsOf(pool),

    async read(key) {
      const { now, value, epoch = null, replica } = bare(((await rowOf(key)) ?? {}) as Partial<Row>)
      if (replica === true) throw Object.assign(new Error('replica'), { code: '25006' })
      return { now: Number(now), epoch, value: value ?? undefined }
    },

    async replace(key, expected, value, keepMs, epoch) {
      const values = [key, value, keepMs, ...[expected, epoch].filter((given) => given !== undefined)]
      try {
        const rows = await rowsOf(replacing(expected !== undefined, epoch !== undefined), values)
        if (rows) return rows.length > 0
      } catch (thrown) {
        if (codeOf(thrown) === SERIALIZATION_FAILURE) return false
        throw thrown
      }
      throw new ForeignReply()
    },
  }
}

type Query = (text: string, values: unknown[]) => Promise<readonly unknown[] | undefined>

/** @returns A function that reads the row of a key. A role that may not read the epoch reads without it from then on. */
function rowReader(rowsOf: Query, read: string, readWithoutEpoch: string): (key: string) => Promise<unknown> {
  let isEpochRefused = false
  return async (key) => {
    if (!isEpochRefused)
      try {
        return (await rowsOf(read, [key]))?.[0]
      } catch (thrown) {
        if (!EPOCH_DENIED.includes(codeOf(thrown))) throw thrown
      }
    const rows = await rowsOf(readWithoutEpoch, [key])
    // This read succeeded, so only the epoch was denied.
    isEpochRefused = true
    return rows?.[0]
  }
}

function checkClient(pool: Partial<PostgresClient> | undefined): void {
  if (typeof pool?.query !== 'function')
    throw new TypeError(
      'pool must have a method query(text, values), as a Pool of pg has; for a client of postgres pass ' +
        '{ query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }',
    )
}

/** @returns undefined if the client does not report it. */
function connectionsOf({ options }: PostgresClient): number | undefined {
  const max: unknown = options?.max
  return typeof max === 'number' && Number.isInteger(max) && max >= 1 ? max : undefined
}

/** The timeline of the server: a promotion and a point-in-time recovery begin a new one. Any role may read it. A replica rejects the function (55000). */
const EPOCH = 'left(pg_walfile_name(pg_current_wal_lsn()), 8)'
/** The codes for: not permitted; no such function; not supported by this service. */
const EPOCH_DENIED = ['42501', '42883', '0A000']
/**
 * At isolation levels above READ COMMITTED, the slower of two concurrent statements fails with this code, and has stored nothing. At SERIALIZABLE, the faster
 * statement may have changed another key of a small table.
 */
const SERIALIZATION_FAILURE = '40001'

/** @param returned What a statement returns if it stored the value. */
function statementsFor(table: string, returned: string) {
  // float8, because clients read bigint and numeric as text.
  const now = 'round(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now'
  const value = `(SELECT value FROM ${table} WHERE key = $1 AND keep_until > clock_timestamp()) AS value`
  const end = `clock_timestamp() + $3::float8 * interval '1 millisecond'`
  return {
    read: `SELECT ${now}, ${EPOCH} AS epoch, ${value}`,
    readWithoutEpoch: `SELECT ${now}, pg_is_in_recovery() AS replica, ${value}`,
    /** The statement returns a row if it stored the value. */
    replacing: (expects: boolean, hasEpoch: boolean): string => {
      const inEpoch = hasEpoch ? `${EPOCH} = $${expects ? 5 : 4}::text` : 'true'
      return expects
        ? `UPDATE ${table} SET value = $2, keep_until = ${end} ` +
            `WHERE key = $1 AND value = $4 AND keep_until > clock_timestamp() AND ${inEpoch} RETURNING ${returned}`
        : `INSERT INTO ${table} AS stored (key, value, keep_until) SELECT $1::text, $2::text, ${end} WHERE ${inEpoch} ` +
            `ON CONFLICT (key) DO UPDATE SET value = excluded.value, keep_until = excluded.keep_until ` +
            `WHERE stored.keep_until <= clock_timestamp() RETURNING ${returned.replaceAll('key', 'stored.key')}`
    },
  }
}

const codeOf = (thrown: unknown) => String(member(thrown, 'code'))
