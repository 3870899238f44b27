import { randomHex } from '../core/digest.ts'
import { member } from '../core/thrown.ts'
import { ForeignReply } from '../store/reason.ts'
import { epochIn, isOther, markOf } from './file-mark.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import { atOnce, type Begin, withoutWaiting } from './transaction.ts'

/** @param gone The database that was open until now. Its file was deleted or replaced. */
export type Open = (gone?: SqliteDatabase) => SqliteDatabase

interface Row {
  readonly value: string | undefined
  readonly epoch: string
}

interface Write {
  readonly now: number
  readonly keepMs: number
  /** The value holds tokens. */
  readonly holds: boolean
}

interface Opened {
  readonly database: SqliteDatabase
  readonly path: string
  readonly mark: string
  /** Statements by SQL text, because preparing a statement takes longer than running it. */
  readonly prepared: Map<string, ReturnType<SqliteDatabase['prepare']>>
  /** The table is known to exist. */
  isMade: boolean
}

/** The interval between deletions of expired rows, which scan all rows. */
const SWEEP_MS = 60_000

/** The table of tokens in the currently open database. All methods are synchronous, so steps of this process never interleave. */
export class TokenTable {
  readonly #open: Open
  readonly #name: string
  readonly #texts: ReturnType<typeof textsFor>
  #opened: Opened | undefined
  #sweepsAt = -Infinity
  #truncationPending = false

  constructor(open: Open, name: string) {
    this.#open = open
    this.#name = name
    this.#texts = textsFor(`"${name}"`)
  }

  /** Whether the log still holds tokens that are no longer needed. */
  get truncationPending(): boolean {
    return this.#truncationPending
  }

  /** Runs a step in its own transaction, in the current database. */
  transaction<Value>(begin: Begin, step: (at: Opened) => Value): Value {
    const at = (this.#opened = this.#current(this.#opened))
    return withoutWaiting(at.database, () => {
      if (!at.isMade) this.#make(at)
      const value = atOnce(at.database, begin, () => step(at))
      at.isMade = true
      return value
    })
  }

  rowOf(at: Opened, key: string, now: number): Row {
    const { database, mark } = at
    const found = () => preparedIn(at, this.#texts.read).get(key, now) as Record<keyof Row, unknown>
    let row = found()
    if (row.epoch === null) {
      // The table was emptied. A new epoch signals that records are lost.
      database.exec(this.#texts.create(mark))
      row = found()
    }
    const { value, epoch } = row
    if (typeof (value ?? '') !== 'string' || typeof epoch !== 'string')
      throw new ForeignReply('database must return rows as objects, with text as strings')
    return { value: (value as string | null) ?? undefined, epoch: epochIn(epoch, mark) }
  }

  write(at: Opened, key: string, value: string, { now, keepMs, holds }: Write): void {
    preparedIn(at, this.#texts.write).run(key, value, now + keepMs)
    this.#truncationPending = this.#sweep(at, now) || !holds || this.#truncationPending
  }

  /** @throws if another process is reading, and therefore locks the database. */
  truncate(): void {
    const database = this.#opened?.database
    if (!database) return
    const { busy } = withoutWaiting(database, () => database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()) as Log
    if (Number(busy) > 0) throw Object.assign(new Error('busy'), { code: 'SQLITE_BUSY' })
    this.#truncationPending = false
  }

  #current(before: Opened | undefined): Opened {
    const mark = before && markOf(before.path)
    if (before && mark !== undefined && !isOther(mark, before.mark)) return before
    const database = this.#open(before?.database)
    const { file = '' } = (database.prepare('PRAGMA database_list').get() ?? {}) as { file?: string }
    return { database, path: file, mark: markOf(file) ?? '', prepared: new Map(), isMade: false }
  }

  /** Creates the table if necessary. Reading an existing table needs no lock. */
  #make({ database, mark }: Opened): void {
    // better-sqlite3 opens a WAL file with NORMAL: a power failure could then undo a lease, and the epoch would not change. `secure_delete` overwrites deleted tokens.
    database.exec('PRAGMA synchronous = FULL; PRAGMA secure_delete = ON')
    const { tables } = database.prepare(this.#texts.count).get(this.#name) as { tables: unknown }
    if (Number(tables) === 0) atOnce(database, 'BEGIN IMMEDIATE', () => database.exec(this.#texts.create(mark)))
  }

  /** @returns Whether rows had expired. */
  #sweep(at: Opened, now: number): boolean {
    if (now < this.#sweepsAt && this.#sweepsAt <= now + SWEEP_MS) return false
    this.#sweepsAt = now + SWEEP_MS
    return Number(member(preparedIn(at, this.#texts.sweep).run(now), 'changes')) > 0
  }
}

function preparedIn({ prepared, database }: Opened, text: string) {
  const statement = prepared.get(text) ?? database.prepare(text)
  prepared.set(text, statement)
  return statement
}

interface Log {
  readonly busy: unknown
}

function textsFor(table: string) {
  return {
    count: `SELECT count(*) AS tables FROM sqlite_schema WHERE type = 'table' AND name = ?`,
    create: (mark: string) =>
      `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, value TEXT NOT NULL, keep_until REAL NOT NULL);
      INSERT OR IGNORE INTO ${table} (key, value, keep_until) VALUES ('epoch', '${randomHex()}.${mark}', 9e15)`,
    // Bytes that are not text count as no record, and are replaced.
    read: `SELECT (SELECT CASE typeof(value) WHEN 'text' THEN value ELSE '' END FROM ${table} WHERE key = ? AND keep_until > ?) AS value,
      (SELECT value FROM ${table} WHERE key = 'epoch') AS epoch`,
    write: `INSERT OR REPLACE INTO ${table} (key, value, keep_until) VALUES (?, ?, ?)`,
    sweep: `DELETE FROM ${table} WHERE keep_until <= ?`,
  }
}
