import type { Clock } from '../../src/index.ts'
import type { PostgresClient } from '../../src/postgres/postgres-register.ts'

const TIME = 'clock_timestamp()'

/** Runs the real statements in a real server, with one change: the wall clock of a test provides the time. */
export function onClock(pool: PostgresClient, clock: Pick<Clock, 'wallNow'>): PostgresClient {
  return {
    async query(text, values) {
      if (!text.includes(TIME)) throw new Error('The statements take their time from elsewhere')
      return pool.query(text.replaceAll(TIME, `to_timestamp(${clock.wallNow() / 1_000})`), values)
    },
  }
}
