import { randomHex } from '../core/hex.ts'
import { shown } from '../core/option-checks.ts'
import { quietly } from '../core/thrown.ts'
import { ForeignAnswer } from '../store/reason.ts'
import type { TokenRegister } from '../store/token-register.ts'

/** A database of node:sqlite, better-sqlite3 or bun:sqlite. */
export interface SqliteDatabase {
  exec(sql: string): unknown
  prepare(sql: string): { get(...values: any[]): unknown; run(...values: any[]): unknown } // eslint-disable-line @typescript-eslint/no-explicit-any -- each library has its own types
}

type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

interface Row {
  readonly value: unknown
  readonly epoch: unknown
}

/**
 * A register in an SQLite database: one row of a table per key. Each step is a transaction of its own. The clock of the machine is the clock of all
 * owners. The epoch is an id that the table is given when it is made.
 *
 * @param open Opens the database. Called again after it has failed.
 * @param busyMs A step blocks this process for so long at most, while another process writes.
 * @throws {TypeError} naming the option.
 */
export function sqliteRegister(
  open: () => SqliteDatabase,
  busyMs: number,
  table = 'evergreen_tokens',
  wallNow = Date.now,
): TokenRegister {
  if (typeof table !== 'string' || !/^[a-z_]\w{0,62}$/i.test(table))
    throw new TypeError(`table must be a name such as evergreen_tokens, got ${shown(table)}`)
  const statements = statementsFor(`"${table}"`)
  let database: SqliteDatabase | undefined
  let isMade = false

  /** Synchronous, so no step of this process comes between. */
  function transaction<Value>(begin: Begin, steps: (opened: SqliteDatabase) => Value): Value {
    database ??= open()
    const opened = database
    return patiently(opened, busyMs, () => {
      if (!isMade) make(opened)
      return atOnce(opened, begin, () => steps(opened))
    })
  }

  function make(opened: SqliteDatabase): void {
    atOnce(opened, 'BEGIN IMMEDIATE', () => opened.exec(statements.create()))
    // better-sqlite3 opens a file of this kind with NORMAL: a power cut may then undo a claim, and the epoch does not tell.
    opened.exec('PRAGMA synchronous = FULL')
    isMade = true
  }

  function rowOf(opened: SqliteDatabase, key: string, now: number): Row {
    const found = () => opened.prepare(statements.read).get(key, now) as Row
    let row = found()
    if (row.epoch === null) {
      // Somebody has emptied the table. Another epoch says that records are lost.
      opened.exec(statements.create())
      row = found()
    }
    if (typeof (row.value ?? '') !== 'string' || typeof row.epoch !== 'string')
      throw new ForeignAnswer('database must answer rows that are objects, with texts as strings')
    return row
  }

  return {
    kind: 'sqlite',
    // eslint-disable-next-line @typescript-eslint/require-await -- an error becomes a rejection
    async read(key) {
      const now = wallNow()
      const { value, epoch } = transaction('BEGIN', (opened) => rowOf(opened, key, now))
      return { now, epoch: String(epoch), ...(typeof value === 'string' && { value }) }
    },
    // eslint-disable-next-line @typescript-eslint/require-await -- an error becomes a rejection
    async replace(key, expected, value, keepMs, epoch) {
      return transaction('BEGIN IMMEDIATE', (opened) => {
        const now = wallNow()
        const stands = rowOf(opened, key, now)
        if ((stands.value ?? undefined) !== expected || (epoch !== undefined && epoch !== stands.epoch)) return false
        opened.prepare(statements.write).run(key, value, now + keepMs)
        return true
      })
    },
  }
}

function statementsFor(table: string) {
  return {
    create:
      () => `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, value TEXT NOT NULL, keep_until REAL NOT NULL);
      INSERT OR IGNORE INTO ${table} (key, value, keep_until) VALUES ('epoch', '${randomHex()}', 9e15)`,
    // Bytes that are no text count as no record, and are replaced.
    read: `SELECT (SELECT CASE typeof(value) WHEN 'text' THEN value ELSE '' END FROM ${table} WHERE key = ? AND keep_until > ?) AS value,
      (SELECT value FROM ${table} WHERE key = 'epoch') AS epoch`,
    write: `INSERT OR REPLACE INTO ${table} (key, value, keep_until) VALUES (?, ?, ?)`,
  }
}

/** In an open transaction of the owner BEGIN fails: a rollback would undo a claim. */
function atOnce<Value>(opened: SqliteDatabase, begin: Begin, steps: () => Value): Value {
  opened.exec(begin)
  try {
    const value = steps()
    opened.exec('COMMIT')
    return value
  } catch (thrown) {
    // SQLite may have done so by itself, as on a full disk.
    quietly(() => opened.exec('ROLLBACK'))
    throw thrown
  }
}

/** Runs with a busy timeout of this store, and puts that of the owner back. */
function patiently<Value>(database: SqliteDatabase, busyMs: number, run: () => Value): Value {
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: unknown }
  database.exec(`PRAGMA busy_timeout = ${busyMs}`)
  try {
    return run()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${Number(timeout)}`)
  }
}
