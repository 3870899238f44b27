import { expect, it } from '@jest/globals'
import type { Pool, PoolConfig } from 'pg'
import { createTokenManager } from '../../src/index.ts'
import { postgresStore } from '../../src/postgres/index.ts'
import { ScriptedSource } from '../support/managed.ts'
import { describeSharedPostgres } from '../support/postgres-server.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { World } from './world.ts'

const DEAD = 3

describeSharedPostgres('given a pg pool whose connections have gone silent', () => {
  const world = new World()

  /** @returns A pool with three open connections, which a proxy can silence. */
  async function poolThrough(proxyUrl: string, config: PoolConfig): Promise<Pool> {
    const connectionString = world.url.replace(/:\d+\//, `:${new URL(proxyUrl).port}/`)
    const pool = world.pool({ connectionString, idleTimeoutMillis: 0, ...config })
    const opened = await Promise.all(Array.from({ length: DEAD }, () => pool.connect()))
    for (const client of opened) client.release()
    return pool
  }

  it.each<[string, PoolConfig]>([
    ['the pool may open more connections', { max: 10 }],
    ['the pool is full, and has a query_timeout', { max: DEAD, query_timeout: 200 }],
  ])('when %s, then the process shares tokens again (F237)', async (_, config) => {
    const proxy = await startProxy(Number(new URL(world.url).port))
    const pool = await poolThrough(proxy.url, config)
    const tokens = createTokenManager({
      source: new ScriptedSource({ pairs: true }),
      store: postgresStore({ pool, commandTimeoutMs: 300 }),
    })
    const reports: string[] = []
    tokens.on('storeUnavailable', ({ message }) => reports.push(message))
    tokens.on('anomaly', () => undefined)

    proxy.silence()
    const isStored = async () => (await world.admin.query('SELECT FROM evergreen_tokens')).rows.length > 0
    let renewals = 0
    for (; !(await isStored()); renewals += 1) await tokens.renew()

    expect(reports).toEqual([expect.stringMatching(/no response within (\d+ ms|query_timeout)/)])
    // Each failing step removes one dead connection.
    expect(renewals).toBeLessThanOrEqual(DEAD + 1)
    await tokens.close()
    // Without a query_timeout the dead connections would keep the pool from ending.
    proxy.cut()
    await pool.end()
    await proxy.stop()
  })
})
