import { DatabaseSync, StatementSync } from 'node:sqlite'
import { monotonicNow } from './notes.mjs'

const { exec } = DatabaseSync.prototype
const { get, run } = StatementSync.prototype

/**
 * Watches all databases of this process. A step is synchronous, so only here can a process be stopped in the middle of one.
 *
 * @param told `{ read(step, begunAt), writes(step, begunAt), holds(), put(step) }`: a transaction has read; it will write; it has written, and holds
 * the lock of the file; it is committed.
 */
export function watchSqlite({ read, writes, holds, put }) {
  let begunAt, found, step
  StatementSync.prototype.get = function (...values) {
    const row = get.apply(this, values)
    if (values.length === 2) found = { key: values[0], value: row.value ?? undefined, epoch: row.epoch }
    return row
  }
  StatementSync.prototype.run = function (...values) {
    // Another statement deletes expired rows.
    if (values.length < 3) return run.apply(this, values)
    const { key, value: expected, epoch } = found
    step = { key, does: 'replace', value: values[1], expected, epoch }
    writes(step, begunAt)
    return run.apply(this, values)
  }
  DatabaseSync.prototype.exec = function (sql) {
    if (/^BEGIN( IMMEDIATE)?$/.test(sql)) begunAt = monotonicNow()
    if (sql === 'COMMIT' && step) holds()
    exec.call(this, sql)
    if (sql === 'COMMIT' && step) put(step)
    else if (sql === 'COMMIT') read({ ...found, does: 'read' }, begunAt)
    if (['COMMIT', 'ROLLBACK'].includes(sql)) step = undefined
  }
}
