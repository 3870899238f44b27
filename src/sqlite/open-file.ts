import type * as Fs from 'node:fs'
import type * as Path from 'node:path'
import type * as Url from 'node:url'
import { quietly } from '../core/thrown.ts'
import { ForeignReply } from '../store/reason.ts'
import { builtin } from './builtin.ts'
import { isBusy } from './lock-queue.ts'
import type { SqliteDatabase } from './sqlite-database.ts'
import type { Open } from './token-table.ts'

/** `EVGR`, in the header of each file that this store has created. */
const APPLICATION_ID = 0x45564752

/** Types of network file systems (Linux, `statfs`): NFS, SMB, CIFS, AFS, Ceph. Their locks and shared memory do not reach other machines. */
const NETWORK = [0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x00c36400]

type Opened = SqliteDatabase & { close(): void }

/** @returns A function that opens the file. @throws {TypeError} naming the option, or the Node version. */
export function opening(file: string | URL): Open {
  const sqlite = builtin('node:sqlite') as { DatabaseSync: new (path: string) => Opened } | undefined
  if (!sqlite)
    throw new TypeError(
      'file needs node:sqlite, of Node 22.13 or newer: update Node, or pass a database of better-sqlite3',
    )
  const fs = builtin('node:fs') as typeof Fs
  const path = pathOf(file)
  return (gone) => {
    makePlace(fs, path)
    const database = new sqlite.DatabaseSync(path)
    try {
      database.exec('PRAGMA busy_timeout = 0')
      own(database)
    } catch (thrown) {
      quietly(() => database.close())
      throw thrown
    }
    // Not done earlier, because the file of another application keeps its permissions.
    closeToOthers(fs, path)
    quietly(() => (gone as Opened | undefined)?.close())
    return database
  }
}

function pathOf(file: string | URL): string {
  const urls = builtin('node:url') as typeof Url
  const path = file instanceof URL ? quietly(() => urls.fileURLToPath(file)) : file
  // SQLite would parse such a text as a URI: the file would be elsewhere, and open to other users.
  if (typeof path !== 'string' || path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new TypeError("file must be a path, or new URL('file:///...'), in a folder that all processes share")
  return path
}

/** Creates the folder and the file. SQLite gives its other files the permissions of this one. */
function makePlace(fs: typeof Fs, path: string): void {
  const paths = builtin('node:path') as typeof Path
  const folder = paths.dirname(path)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (NETWORK.includes(fs.statfsSync(folder).type))
    throw new ForeignReply('file is on a network file system, where processes cannot share it: use a local path')
  // Not opened again: closing it would release all locks of this process's other connections (fcntl), and another process would delete the log that they use.
  if (fs.statSync(path, { throwIfNoEntry: false })?.isFile()) fs.accessSync(path, fs.constants.R_OK | fs.constants.W_OK)
  else fs.closeSync(fs.openSync(path, 'a', 0o600))
}

/** Restricts the files to their owner. SQLite may have opened its other files before, with the earlier permissions, and they hold tokens as well. */
function closeToOthers(fs: typeof Fs, path: string): void {
  for (const one of [path, `${path}-wal`, `${path}-shm`]) {
    const { mode = 0 } = fs.statSync(one, { throwIfNoEntry: false }) ?? {}
    if ((mode & 0o077) !== 0) fs.chmodSync(one, 0o600)
  }
}

/** Marks a new file, or one that a process with `database` has created, as this store's. Opening a marked file needs no lock. */
function own(database: SqliteDatabase): void {
  const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: unknown }
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode').get() as { journal_mode: unknown }
  const { ours, others } = database.prepare(TABLES).get() as { ours: unknown; others: unknown }
  const isMarked = Number(id) === APPLICATION_ID
  if (!isMarked && (Number(id) !== 0 || Number(others) > 0))
    throw new ForeignReply(
      'file is the database of another application: use another file, or pass the database as database',
    )
  if (isMarked && mode === 'wal') return
  try {
    // With a write-ahead log, readers do not wait for writers.
    database.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA journal_mode = WAL`)
  } catch (thrown) {
    // The records can be read without the mark. The next process sets it.
    if (!isBusy(thrown) || Number(ours) === 0) throw thrown
  }
}

/** Counts the tables with the columns of this store, and all others. */
const TABLES = `SELECT sum(columns = 3) AS ours, sum(columns < 3) AS others FROM (
  SELECT (SELECT count(*) FROM pragma_table_info(sqlite_schema.name) WHERE name IN ('key', 'value', 'keep_until')) AS columns
  FROM sqlite_schema WHERE type <> 'index')`
