import { afterAll, beforeAll } from '@jest/globals'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { createTableStatement } from '../../src/postgres/index.ts'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'
import { redisRegister } from '../../src/redis/redis-register.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import * as postgresClock from '../support/postgres-clock.ts'
import { describePostgres, startPostgres } from '../support/postgres-server.ts'
import * as redisClock from '../support/redis-clock.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'
import { promisesOfLogin } from './login-promises.ts'
import { promisesOfRecord } from './record-promises.ts'
import type { RegisterOf } from './world.ts'

const promisesWith = (name: string, registerOf: RegisterOf) => {
  for (const promises of [promisesOfLogin, promisesOfRecord])
    promises({ name, registerOf, isSealed: true, stepMs: 250 })
}

describeRedis('given a login with two APIs, sealed in a Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    server = await startRedis()
    client = createClient({ url: server.url })
    await client.connect()
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })

  promisesWith('Redis', async (clock, traffic) => {
    const send = traffic.counted((args: string[]) => client.sendCommand(args))
    return () => redisRegister(redisClock.onClock(send, clock))
  })
})

describePostgres('given a login with two APIs, sealed in a PostgreSQL', () => {
  let server: Awaited<ReturnType<typeof startPostgres>>
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
    pool = new Pool({ connectionString: server.url })
    await pool.query(createTableStatement())
  })
  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  promisesWith('PostgreSQL', async (clock, traffic) => {
    const send = (text: string, values: unknown[]) => pool.query(text, values) as Promise<{ rows: unknown[] }>
    return () => postgresRegister(postgresClock.onClock({ query: traffic.counted(send) }, clock))
  })
})

describeSqlite('given a login with two APIs, sealed in a SQLite file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-resources-'))
  const databases: { close(): void }[] = []
  afterAll(() => {
    for (const database of databases) database.close()
    rmSync(folder, { recursive: true })
  })

  promisesWith('SQLite', async (clock) => () => {
    const database = new BetterSqlite!(join(folder, 'tokens.db'))
    databases.push(database)
    return sqliteRegister(() => database, 100, undefined, clock)
  })
})
