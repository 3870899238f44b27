import { quietly } from '../core/thrown.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

/** In an open transaction of the owner BEGIN fails: a rollback would undo a claim. */
export function atOnce<Value>(database: SqliteDatabase, begin: Begin, steps: () => Value): Value {
  database.exec(begin)
  try {
    const value = steps()
    database.exec('COMMIT')
    return value
  } catch (thrown) {
    // SQLite may have done so by itself, as on a full disk.
    quietly(() => database.exec('ROLLBACK'))
    throw thrown
  }
}

/** Runs without a busy timeout: SQLite would wait within the call. Puts the timeout of the owner back. */
export function withoutWaiting<Value>(database: SqliteDatabase, run: () => Value): Value {
  const { timeout } = database.prepare('PRAGMA busy_timeout').get() as { timeout: unknown }
  const set = (ms: number) => Number(timeout) > 0 && database.exec(`PRAGMA busy_timeout = ${ms}`)
  set(0)
  try {
    return run()
  } finally {
    set(Number(timeout))
  }
}
