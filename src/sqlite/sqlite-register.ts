import { type Clock, systemClock } from '../core/clock.ts'
import { shown } from '../core/option-checks.ts'
import { holdsTokens } from '../store/record-text.ts'
import type { TokenRegister } from '../store/token-register.ts'
import { LockQueue } from './lock-queue.ts'
import { type Open, TokenTable } from './token-table.ts'

/**
 * A register in an SQLite database: one row of a table per key. Each step is its own transaction. The clock of the machine is the clock of all owners. The
 * epoch is an id that the table gets on creation, with the mark of its file.
 *
 * @param open Opens the database. Called again if it failed, or if the file was deleted or replaced.
 * @param patienceMs How long a step is retried while another process holds the lock. Meanwhile this process continues with other work.
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
  const rows = new TokenTable(open, table)
  // With a write-ahead log, readers are never blocked, so no read waits behind a write.
  const readers = new LockQueue(clock, patienceMs)
  const writers = new LockQueue(clock, patienceMs)
  return {
    kind: 'sqlite',
    async read(key) {
      const now = clock.wallNow()
      const { value, epoch } = await readers.run(() => rows.transaction('BEGIN', (at) => rows.rowOf(at, key, now)))
      return { now, epoch, ...(value !== undefined && { value }) }
    },
    async replace(key, expected, value, keepMs, epoch) {
      const isStored = await writers.run(() =>
        rows.transaction('BEGIN IMMEDIATE', (at) => {
          const now = clock.wallNow()
          const current = rows.rowOf(at, key, now)
          if (current.value !== expected || (epoch !== undefined && epoch !== current.epoch)) return false
          rows.write(at, key, value, { now, keepMs, holds: holdsTokens(value) })
          return true
        }),
      )
      // The first attempt runs before this step resolves, because the process may end then.
      if (rows.truncationPending) writers.run(() => rows.truncate()).catch(() => undefined)
      return isStored
    },
  }
}
