import { asGiven, checkObject, type Readers, readOptions } from '../core/option-checks.ts'
import type { TokenStore } from '../core/token-store.ts'
import { ForeignReply } from '../store/reason.ts'
import { checkedRegister } from '../store/checked-register.ts'
import { SHARED, type SharedStoreOptions, storeOn } from '../store/shared-store.ts'
import { machineNow } from './machine-clock.ts'
import { opening } from './open-file.ts'
import { reasonOf } from './reason.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { sqliteRegister } from './sqlite-register.ts'
import type { Open } from './token-table.ts'

export type SqliteStoreOptions = SharedStoreOptions & {
  /** Name of the table, which the store creates. Default `evergreen_tokens`. */
  table?: string | undefined
} & (
    | {
        /**
         * The file, on a local disk. Needs node:sqlite (Node 22.13 or newer). The store creates the folders (accessible to their owner only) and the file
         * (readable by its owner only; the permissions of an existing file are restricted likewise).
         */
        file: string | URL
      }
    | {
        /**
         * An open database of node:sqlite, better-sqlite3 or bun:sqlite. While the application has a transaction open, the store cannot use the database. The
         * store sets its `synchronous` to FULL and its `secure_delete` to ON.
         */
        database: SqliteDatabase
      }
  )

/** The options of both members of the union. */
interface Given extends SharedStoreOptions {
  file?: string | URL | undefined
  database?: SqliteDatabase | undefined
  table?: string | undefined
}

const OWN: Readers<Omit<Given, keyof SharedStoreOptions>> = { file: asGiven, database: asGiven, table: asGiven }

/**
 * Shares the tokens of each account among all processes of one machine that use the same file and the same `prefix`: command-line tools, desktop
 * programs, workers. One process renews, and the others adopt its tokens. If the process that renews dies, another takes over. It
 * presents a single-use refresh token again only for a login, and only once no access token is valid.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { sqliteStore } from 'axios-evergreen/sqlite'
 * import { homedir } from 'node:os'
 * import { join } from 'node:path'
 *
 * const store = sqliteStore({ file: join(homedir(), '.config', 'my-tool', 'tokens.db') })
 * const tokens = createTokenManager({ source, store })
 * ```
 * @throws {TypeError | RangeError} naming the option, or the Node version.
 */
export function sqliteStore(options: SqliteStoreOptions): TokenStore {
  const readers = { ...OWN, ...SHARED }
  const { file, database, table, ...shared } = readOptions('The options of sqliteStore', options, readers, '')
  if ((file === undefined) === (database === undefined)) throw new TypeError('Pass either file or database')
  const open = file === undefined ? onGiven(database) : opening(file)
  // A little less than the store's own timeout, so that the reported reason is the lock.
  const patienceMs = shared.commandTimeoutMs * 0.8
  return storeOn(checkedRegister(sqliteRegister(open, patienceMs, table)), shared, reasonOf, { machineNow })
}

function onGiven(database: unknown): Open {
  checkObject('database', database)
  for (const method of ['exec', 'prepare'])
    if (typeof Reflect.get(database as object, method) !== 'function')
      throw new TypeError(
        `database must have a method ${method}, as a database of node:sqlite, better-sqlite3 or bun:sqlite has`,
      )
  return (gone) => {
    if (gone)
      throw new ForeignReply('the file of the database was deleted or replaced: open a new one, or restart the process')
    return database as SqliteDatabase
  }
}
