import { expect, it } from '@jest/globals'
import { Pool } from 'pg'
import { createTableStatement, postgresStore } from '../../src/postgres/index.ts'
import { postgresRegister } from '../../src/postgres/postgres-register.ts'
import { reasonOf } from '../../src/postgres/reason.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { liveThroughLoss } from '../support/lost-writes.ts'
import { onClock } from '../support/postgres-clock.ts'
import { Traffic } from '../support/traffic.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'
import { World } from './world.ts'

const KEY = '{evergreen:0123}'
const HOUR = 3_600_000

describePostgres('given a PostgreSQL that loses writes', () => {
  const pools: Pool[] = []
  const poolOf = ({ url }: PostgresServer) => {
    const pool = new Pool({ connectionString: url }).on('error', () => undefined)
    pools.push(pool)
    return pool
  }

  /** A primary with the table, and a replica that has all of its data. */
  async function startPair() {
    const primary = await startPostgres()
    const admin = poolOf(primary)
    await admin.query(createTableStatement())
    const replica = await startPostgres({ replicaOf: primary })
    const caughtUp = async () => {
      const { rows } = await admin.query<{ lsn: string }>('SELECT pg_current_wal_lsn() AS lsn')
      const reached = `SELECT pg_last_wal_replay_lsn() >= '${rows[0]!.lsn}' AS reached`
      while (!(await readable.query<{ reached: boolean }>(reached)).rows[0]!.reached) await settle()
    }
    const readable = poolOf(replica)
    /** The replica receives no further write. */
    const part = async () => {
      await caughtUp()
      await readable.query(`ALTER SYSTEM SET primary_conninfo = ''`)
      await readable.query('SELECT pg_reload_conf()')
      while ((await readable.query('SELECT FROM pg_stat_wal_receiver')).rows.length > 0) await settle()
    }
    return { primary, replica, readable, caughtUp, part }
  }

  const end = async (...servers: PostgresServer[]) => {
    for (const pool of pools.splice(0)) await pool.end()
    for (const server of servers) await server.stop()
  }

  it('when an asynchronous replica is promoted without the last write, then a running owner presents nothing twice (F234)', async () => {
    const { primary, replica, readable, part } = await startPair()
    const clock = watchedClock()
    const source = new ScriptedSource({ pairs: true })
    let at = poolOf(primary)
    const query = (text: string, values: unknown[]) => at.query(text, values) as Promise<{ rows: unknown[] }>
    const start = () => manage(source, { store: postgresStore({ pool: { query } }) }, clock)
    const [first, second] = [start(), start()]
    await first.tokens.getAccessToken()
    await second.tokens.getAccessToken()
    await part()
    await first.tokens.renew()
    await primary.stop()
    await replica.promote()
    at = readable
    await second.tokens.renew()
    await settle()
    expect(source.calls.flatMap(({ refreshToken }) => refreshToken ?? [])).toEqual(['refresh-1'])
    expect(source.kinds).toBe('obtain refresh obtain')
    expect(second.observed.anomaly.map(({ kind }) => kind)).toContain('store-restored')
    expect([...first.observed.suspicious, ...second.observed.suspicious]).toEqual([])
    await end(replica)
  })

  /** Twenty logins, each in three processes, at first at `primary`. */
  async function liveAt(
    name: string,
    primary: PostgresServer,
    place: { part(): Promise<void>; lose(): Promise<Pool> },
  ) {
    const clock = watchedClock()
    const traffic = new Traffic()
    let at = poolOf(primary)
    const send = (text: string, values: unknown[]) => at.query(text, values) as Promise<{ rows: unknown[] }>
    const query = traffic.counted(send)
    const store = () => postgresStore({ pool: onClock({ query }, clock) })
    const lose = async () => {
      await primary.stop()
      at = await place.lose()
    }
    await liveThroughLoss({ ...place, name, store, lose }, clock, traffic)
  }

  it('when a replica without the last renewal of twenty logins is promoted, then no login is lost (F349)', async () => {
    const { primary, replica, readable, part } = await startPair()
    await liveAt('PostgreSQL, a standby promoted', primary, {
      part,
      async lose() {
        await replica.promote()
        return readable
      },
    })
    await end(replica)
  })

  it('when a backup from before the last renewal of twenty logins is recovered, then no login is lost (F349)', async () => {
    const primary = await startPostgres()
    await poolOf(primary).query(createTableStatement())
    let recovered: PostgresServer
    await liveAt('PostgreSQL, a backup recovered', primary, {
      part: async () => void (recovered = await startPostgres({ backupOf: primary })),
      async lose() {
        const pool = poolOf(recovered)
        while ((await pool.query('SELECT WHERE pg_is_in_recovery()')).rows.length > 0) await settle()
        expect(await postgresRegister(pool).read(KEY)).toMatchObject({ epoch: '00000002' })
        return pool
      },
    })
    await end(recovered!)
  })

  it('when the pool connects to a replica, then a read is rejected, and the reason names it (F234)', async () => {
    const { primary, replica, readable } = await startPair()
    expect(reasonOf(await outcome(postgresRegister(readable).read(KEY)))).toBe(
      '55000: the server is a replica, connect to the primary',
    )
    await end(replica, primary)
  })

  it('when a replica is promoted between a read and its replace, then nothing is stored (F236)', async () => {
    const { primary, replica, readable, caughtUp } = await startPair()
    const before = postgresRegister(poolOf(primary))
    await before.replace(KEY, undefined, 'a', HOUR)
    const { epoch } = await before.read(KEY)
    await caughtUp()
    await replica.promote()
    const after = postgresRegister(readable)
    expect(await after.replace(KEY, 'a', 'b', HOUR, epoch!)).toBe(false)
    expect(await after.replace(`${KEY}2`, undefined, 'b', HOUR, epoch!)).toBe(false)
    const reading = await after.read(KEY)
    expect(reading).toMatchObject({ value: 'a', epoch: '00000002' })
    expect(await after.replace(KEY, 'a', 'b', HOUR, reading.epoch!)).toBe(true)
    expect(await after.replace(`${KEY}2`, undefined, 'b', HOUR, reading.epoch!)).toBe(true)
    await end(replica, primary)
  })
})

describePostgres('given a PostgreSQL whose role may not read the timeline', () => {
  const world = new World(startPostgres)

  it('when tokens are shared, then one anomaly says that a restored record is not noticed (F235)', async () => {
    await world.admin.query(`CREATE ROLE blind LOGIN; GRANT USAGE ON SCHEMA ${world.schema} TO blind;
      GRANT SELECT, INSERT, UPDATE ON evergreen_tokens TO blind;
      REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC`)
    const pool = world.pool({ connectionString: world.url.replace('evergreen@', 'blind@') })
    const clock = watchedClock()
    const source = new ScriptedSource({ pairs: true })
    const [first, second] = [1, 2].map(() => manage(source, { store: postgresStore({ pool }) }, clock))
    expect([await first!.tokens.getAccessToken(), await second!.tokens.getAccessToken()]).toEqual([
      'access-1',
      'access-1',
    ])
    await first!.tokens.renew()
    expect(source.kinds).toBe('obtain refresh')
    for (const { observed } of [first!, second!]) {
      expect(observed.anomaly.filter(({ kind }) => kind === 'store-epoch-unknown')).toHaveLength(1)
      expect(observed.storeUnavailable).toEqual([])
    }
  })
})
