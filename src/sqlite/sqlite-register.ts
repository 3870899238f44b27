import { type Clock, systemClock } from '../core/clock.ts'
import { randomHex } from '../core/hex.ts'
import { shown } from '../core/option-checks.ts'
import { member } from '../core/thrown.ts'
import { ForeignAnswer } from '../store/reason.ts'
import { holdsTokens } from '../store/record-text.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { epochIn, isOther, markOf } from './file-mark.ts'
import { LockQueue } from './lock-queue.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { atOnce, type Begin, withoutWaiting } from './transaction.ts'

/** @param gone The database that was open until now. Its file was deleted, or another one stands in its place. */
export type Open = (gone?: SqliteDatabase) => SqliteDatabase

interface Opened {
  readonly database: SqliteDatabase
  readonly path: string
  readonly mark: string
  /** The table has been there. */
  isMade: boolean
}

interface Row {
  readonly value: unknown
  readonly epoch: unknown
}

/** All rows are looked through for those that have expired, so not with each write. */
const SWEEP_MS = 60_000

/**
 * A register in an SQLite database: one row of a table per key. Each step is a transaction of its own. The clock of the machine is the clock of all
 * owners. The epoch is an id that the table is given when it is made, with the mark of its file.
 *
 * @param open Opens the database. Called again after it has failed.
 * @param patienceMs A step is tried for so long while another process holds the lock. Meanwhile this process goes on with other work.
 * @throws {TypeError} naming the option.
 */
export function sqliteRegister(
  open: Open,
  patienceMs: number,
  table = 'evergreen_tokens',
  clock: Clock = systemClock,
): TokenRegister {
  if (typeof table !== 'string' || !/^[a-z_]\w{0,62}$/i.test(table))
    throw new TypeError(`table must be a name such as evergreen_tokens, got ${shown(table)}`)
  const statements = statementsFor(`"${table}"`)
  // With a log beside the file (WAL) nobody holds up readers. So no read waits behind a write.
  const queues = { BEGIN: new LockQueue(clock, patienceMs), 'BEGIN IMMEDIATE': new LockQueue(clock, patienceMs) }
  let opened: Opened | undefined
  let sweepsAt = -Infinity
  /** Tokens that nobody needs any more stand in the log. */
  let owesTruncation = false

  /** Synchronous, so no step of this process comes between. */
  function transaction<Value>(begin: Begin, steps: (opened: Opened) => Value): Promise<Value> {
    return queues[begin].run(() => {
      const at = (opened = current(opened))
      return withoutWaiting(at.database, () => {
        if (!at.isMade) make(at)
        const value = atOnce(at.database, begin, () => steps(at))
        at.isMade = true
        return value
      })
    })
  }

  function current(before: Opened | undefined): Opened {
    const mark = before && markOf(before.path)
    if (before && mark !== undefined && !isOther(mark, before.mark)) return before
    const database = open(before?.database)
    const { file = '' } = (database.prepare('PRAGMA database_list').get() ?? {}) as { file?: string }
    return { database, path: file, mark: markOf(file) ?? '', isMade: false }
  }

  /** Whoever only reads a table that is there needs no lock. */
  function make({ database, mark }: Opened): void {
    // better-sqlite3 opens a file of this kind with NORMAL: a power cut may then undo a claim, and the epoch does not tell. Deleted tokens are
    // overwritten.
    database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON')
    const { tables } = database.prepare(statements.count).get(table) as { tables: unknown }
    if (Number(tables) === 0) atOnce(database, 'BEGIN IMMEDIATE', () => database.exec(statements.create(mark)))
  }

  function rowOf({ database, mark }: Opened, key: string, now: number): Row {
    const found = () => database.prepare(statements.read).get(key, now) as Row
    let row = found()
    if (row.epoch === null) {
      // Somebody has emptied the table. Another epoch says that records are lost.
      database.exec(statements.create(mark))
      row = found()
    }
    if (typeof (row.value ?? '') !== 'string' || typeof row.epoch !== 'string')
      throw new ForeignAnswer('database must answer rows that are objects, with texts as strings')
    return { value: row.value, epoch: epochIn(row.epoch, mark) }
  }

  /** @returns Whether rows had expired. */
  function sweep({ database }: Opened, now: number): boolean {
    if (now < sweepsAt && sweepsAt <= now + SWEEP_MS) return false
    sweepsAt = now + SWEEP_MS
    return Number(member(database.prepare(statements.sweep).run(now), 'changes')) > 0
  }

  function truncate(): void {
    const database = opened?.database
    if (!database) return
    const { busy } = withoutWaiting(database, () => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()) as Log
    // Another process reads at this moment.
    if (Number(busy) > 0) throw Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' })
    owesTruncation = false
  }

  return {
    kind: 'sqlite',
    async read(key) {
      const now = clock.wallNow()
      const { value, epoch } = await transaction('BEGIN', (at) => rowOf(at, key, now))
      return { now, epoch: String(epoch), ...(typeof value === 'string' && { value }) }
    },
    async replace(key, expected, value, keepMs, epoch) {
      const isStored = await transaction('BEGIN IMMEDIATE', (at) => {
        const now = clock.wallNow()
        const stands = rowOf(at, key, now)
        if ((stands.value ?? undefined) !== expected || (epoch !== undefined && epoch !== stands.epoch)) return false
        at.database.prepare(statements.write).run(key, value, now + keepMs)
        owesTruncation = sweep(at, now) || !holdsTokens(value) || owesTruncation
        return true
      })
      // The first attempt is made before this step is answered: the process may end then.
      if (owesTruncation) queues['BEGIN IMMEDIATE'].run(truncate).catch(() => undefined)
      return isStored
    },
  }
}

interface Log {
  readonly busy: unknown
}

function statementsFor(table: string) {
  return {
    count: `SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name = ?`,
    create: (mark: string) =>
      `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, value TEXT NOT NULL, keep_until REAL NOT NULL);
      INSERT OR IGNORE INTO ${table} (key, value, keep_until) VALUES ('epoch', '${randomHex()}.${mark}', 9e15)`,
    // Bytes that are no text count as no record, and are replaced.
    read: `SELECT (SELECT CASE typeof(value) WHEN 'text' THEN value ELSE '' END FROM ${table} WHERE key = ? AND keep_until > ?) AS value,
      (SELECT value FROM ${table} WHERE key = 'epoch') AS epoch`,
    write: `INSERT OR REPLACE INTO ${table} (key, value, keep_until) VALUES (?, ?, ?)`,
    sweep: `DELETE FROM ${table} WHERE keep_until <= ?`,
  }
}
