import { Pool } from 'pg'
import type { Clock } from '../../src/index.ts'
import { createTableStatement } from '../../src/postgres/index.ts'
import type { PostgresClient } from '../../src/postgres/postgres-register.ts'
import { startPostgres } from './postgres-server.ts'
import type { Traffic } from './traffic.ts'

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

/** A private server with the table. Its commands are counted. @param atEnd Receives what closes its connections. */
export async function startTableOnClock(
  clock: Pick<Clock, 'wallNow'>,
  traffic: Traffic,
  atEnd: (end: () => unknown) => void,
): Promise<PostgresClient> {
  const server = await startPostgres()
  const pool = new Pool({ connectionString: server.url })
  atEnd(() => pool.end())
  await pool.query(createTableStatement())
  const send = (text: string, values: unknown[]) => pool.query(text, values) as Promise<{ rows: unknown[] }>
  return onClock({ query: traffic.counted(send) }, clock)
}
