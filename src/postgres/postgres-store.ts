import { asGiven, type Readers, readOptions } from '../core/option-checks.ts'
import type { TokenStore } from '../core/token-store.ts'
import { Changes } from '../store/changes.ts'
import { checkedRegister } from '../store/checked-register.ts'
import { SHARED, type SharedStoreOptions, storeOn } from '../store/shared-store.ts'
import { type PostgresClient, postgresRegister } from './postgres-register.ts'
import type { PostgresListener } from './listener.ts'
import { reasonOf } from './reason.ts'

export interface PostgresStoreOptions extends SharedStoreOptions {
  /** A `pg` Pool that connects to the primary server, or any object that runs each statement in its own transaction. */
  pool: PostgresClient
  /** Name of the table that `createTableStatement` creates, or `schema.table`. Default `evergreen_tokens`. */
  table?: string | undefined
  /**
   * A connected `Client` of pg, only for notifications. Pass it in all processes or in none. Each write then sends the key of its record on the
   * channel `axios_evergreen`, and an owner of a login checks the store when its key has changed, instead of every `renewal.maxStalenessMs`. End it
   * after the manager. Default: none.
   */
  listener?: PostgresListener | undefined
}

/**
 * Shares the tokens of each account among all processes that use the same table and the same `prefix`. PostgreSQL 12 or newer. One process
 * renews, and the others adopt its tokens. If the process that renews dies, another takes over. It presents a single-use
 * refresh token again only for a login, and only once no access token is valid.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { postgresStore } from 'axios-evergreen/postgres'
 * import { Pool } from 'pg'
 *
 * const tokens = createTokenManager({ source, store: postgresStore({ pool: new Pool() }) })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function postgresStore(options: PostgresStoreOptions): TokenStore {
  const own = { pool: asGiven, table: asGiven, listener: asGiven }
  const readers = { ...own, ...SHARED } satisfies Readers<PostgresStoreOptions>
  const { pool, table, listener, ...shared } = readOptions('The options of postgresStore', options, readers, '')
  return storeOn(checkedRegister(postgresRegister(pool, table, listener)), shared, reasonOf, { NotifiedOf: Changes })
}
