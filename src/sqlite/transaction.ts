import { quietly } from '../core/thrown.ts'
import type { SqliteDatabase } from './sqlite-database.ts'

export type Begin = 'BEGIN' | 'BEGIN IMMEDIATE'

/** Runs steps in a transaction. BEGIN fails within an open transaction of the application, whose rollback would undo a lease. */
export function atOnce<Value>(database: SqliteDatabase, begin: Begin, steps: () => Value): Value {
  database.exec(begin)
  try {
    const value = steps()
    database.exec('COMMIT')
    return value
  } catch (thrown) {
    // SQLite may have rolled back by itself, for example on a full disk.
    quietly(() => database.exec('ROLLBACK'))
    throw thrown
  }
}

/** Runs without a busy timeout, because SQLite would wait within the call. Restores the application's timeout afterwards. */
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
