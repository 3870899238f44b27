import { describe, expect, it } from '@jest/globals'
import { Client } from 'pg'
import postgres from 'postgres'
import { type PostgresClient, postgresRegister } from '../../src/postgres/postgres-register.ts'
import { reasonOf } from '../../src/postgres/reason.ts'
import { checkedRegister } from '../../src/store/checked-register.ts'
import { outcome } from '../support/managed.ts'
import { describePostgres, startPostgres } from '../support/postgres-server.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { settle } from '../support/watched-clock.ts'
import { World } from './world.ts'

const KEY = '{evergreen:0123}'
const HOUR = 3_600_000
const SECRET = 's3cret'

/** @returns The reason of each failed step, in order. */
async function reasons(client: PostgresClient, table?: string): Promise<string[]> {
  const register = checkedRegister(postgresRegister(client, table))
  const steps = [
    () => register.read(KEY),
    () => register.replace(KEY, 'a', SECRET, HOUR),
    () => register.replace(KEY, undefined, SECRET, HOUR),
  ]
  const told: string[] = []
  for (const step of steps) told.push(await step().then(() => 'none', reasonOf))
  return told
}
const ANSWER = 'query(text, values) must return { rows } of objects, with text as strings'
const three = (reason: string) => [reason, reason, reason]

describePostgres('given a register in PostgreSQL, and trouble with it', () => {
  const world = new World(startPostgres)
  const as = (user: string, password = '') => world.url.replace('evergreen@', `${user}${password && ':'}${password}@`)

  it('when the table does not exist, then the reason says how to create it', async () => {
    const reason = '42P01: the table does not exist, run the statement that createTableStatement() returns'
    expect(await reasons(world.pool(), 'nowhere')).toEqual(three(reason))
    expect(await reasons(world.pool(), 'nowhere.nothing')).toEqual(three(reason))
  })

  it('when the table has another shape, then the reason says so', async () => {
    await world.admin.query('CREATE TABLE other (key text PRIMARY KEY)')
    expect(await reasons(world.pool(), 'other')).toEqual(
      three('42703: the table does not have the columns of createTableStatement()'),
    )
  })

  it('when permissions are missing, then the reason names them, and with them it works', async () => {
    const reason = '42501: not permitted, grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema'
    await world.admin.query('CREATE ROLE app LOGIN')
    const table = `${world.schema}.evergreen_tokens`
    const pool = world.pool({ connectionString: as('app') })
    expect(await reasons(pool, table)).toEqual(three(reason))
    await world.admin.query(`GRANT USAGE ON SCHEMA ${world.schema} TO app`)
    expect(await reasons(pool, table)).toEqual(three(reason))
    await world.admin.query(`GRANT SELECT ON evergreen_tokens TO app`)
    expect(await reasons(pool, table)).toEqual(['none', reason, reason])
    await world.admin.query(`GRANT INSERT, UPDATE ON evergreen_tokens TO app`)
    expect(await reasons(pool, table)).toEqual(three('none'))
  })

  it('when the server is read-only, like a replica, then the reason says where to connect', async () => {
    const pool = world.pool({ options: '-c default_transaction_read_only=on' })
    const reason = '25006: the server is read-only, connect to the primary'
    expect(await reasons(pool)).toEqual(['none', reason, reason])
  })

  it('when the password is wrong or missing, then the reason says only that (F151)', async () => {
    await world.admin.query(`CREATE ROLE guarded; CREATE ROLE careful LOGIN PASSWORD 'right' IN ROLE guarded`)
    const refused = '28P01: the server rejected the password'
    expect(await reasons(world.pool({ connectionString: as('careful', SECRET) }))).toEqual(three(refused))
    const missing = 'the password is missing or cannot be used'
    expect(await reasons(world.pool({ connectionString: as('careful') }))).toEqual(three(missing))
    expect(await reasons(world.pool({ connectionString: as('careful', 'right') }), 'nowhere')).toEqual(
      three(expect.stringMatching(/^42P01/) as never),
    )
  })

  it.each([
    ['role', /evergreen@/, 'nobody@', '28000: the server rejects this role, check the role and pg_hba.conf'],
    ['database', /postgres$/, 'elsewhere', '3D000: the database does not exist, correct its name'],
  ])('when there is no such %s, then the reason says so', async (_, right, wrong, reason) => {
    expect(await reasons(world.pool({ connectionString: world.url.replace(right, wrong) }))).toEqual(three(reason))
  })

  it('when no connection is left for the role, then the reason says what to change', async () => {
    await world.admin.query('CREATE ROLE crowded LOGIN CONNECTION LIMIT 0')
    const reason =
      '53300: no connection is available, make the pools smaller, or raise max_connections or the limit of the role'
    expect(await reasons(world.pool({ connectionString: as('crowded') }))).toEqual(three(reason))
  })

  it('when the column key is not unique, then the reason says how to create the table', async () => {
    await world.admin.query('CREATE TABLE loose (key text, value text, keep_until timestamptz)')
    const reason =
      '42P10: the column key of the table is not unique, run the statement that createTableStatement() returns'
    expect(await reasons(world.pool(), 'loose')).toEqual(['none', 'none', reason])
  })

  it.each([
    ['lock_timeout', '55P03: the row has been locked for too long, check for open transactions, or raise lock_timeout'],
    [
      'statement_timeout',
      '57014: the statement was cancelled, check for locks on the table, or raise statement_timeout',
    ],
  ])('when %s ends a step, then the reason says so, and the next step succeeds', async (setting, reason) => {
    const register = postgresRegister(world.pool({ options: `-c ${setting}=50` }))
    await register.replace(KEY, undefined, 'a', HOUR)
    const holder = await world.admin.connect()
    await holder.query('BEGIN; SELECT FROM evergreen_tokens FOR UPDATE')
    expect(reasonOf(await outcome(register.replace(KEY, 'a', 'b', HOUR)))).toBe(reason)
    await holder.query('COMMIT')
    holder.release()
    expect(await register.replace(KEY, 'a', 'b', HOUR)).toBe(true)
  })

  it('when the server stops, and waits for its clients, then the reason says so', async () => {
    const server = await startPostgres()
    const client = new Client({ connectionString: server.url })
    await client.connect()
    server.process.kill('SIGTERM') // a smart shutdown
    const pool = world.pool({ connectionString: server.url })
    const register = postgresRegister(pool)
    let reason = 'none'
    while (!reason.startsWith('57P03')) reason = await register.read(KEY).then(() => 'none', reasonOf)
    expect(reason).toBe('57P03: the server is starting up or shutting down')
    await client.end()
    await pool.end()
    await server.stop()
  })

  it('when no server is at its address, then the reason is that of the system', async () => {
    const connectionString = `postgres://evergreen:${SECRET}@127.0.0.1:1/postgres`
    expect(await reasons(world.pool({ connectionString }))).toEqual(three('ECONNREFUSED'))
    expect(await reasons(world.pool({ connectionString: connectionString.replace('127.0.0.1', 'localhost') }))).toEqual(
      three('ECONNREFUSED'),
    )
  })

  it('when the pool is closed, then the reason says so', async () => {
    const pool = world.pool()
    await pool.end()
    expect(await reasons(pool)).toEqual(three('the pool is closed'))
    const sql = postgres(world.url)
    await sql.end()
    const client = { query: async (text: string) => ({ rows: await sql.unsafe(text) }) }
    expect(await reasons(client)).toEqual(three('CONNECTION_ENDED'))
  })

  it('when all connections of the pool are busy for too long, then the reason says so', async () => {
    const pool = world.pool({ max: 1 })
    const busy = await pool.connect()
    pool.options.connectionTimeoutMillis = 1
    expect(await reasons(pool)).toEqual(three('no connection in time'))
    busy.release()
  })

  it('when the server ends the connection during a replacement, then it rejects, nothing is stored, and the next one succeeds', async () => {
    const register = postgresRegister(world.pool())
    await register.replace(KEY, undefined, 'a', HOUR)
    const [killed] = await world.whileHeld(
      'SELECT FROM evergreen_tokens FOR UPDATE',
      'COMMIT',
      1,
      () => [register.replace(KEY, 'a', 'b', HOUR)],
      ([process]) => world.admin.query('SELECT pg_terminate_backend($1)', [process]),
    )
    expect(killed).toMatchObject({ status: 'rejected', reason: { code: '57P01' } })
    expect(await register.read(KEY)).toMatchObject({ value: 'a' })
    expect(await register.replace(KEY, 'a', 'b', HOUR)).toBe(true)
  })

  it('when the response to a replacement is lost, then it rejects, although the value was stored (F134)', async () => {
    const proxy = await startProxy(Number(new URL(world.url).port))
    const pool = world.pool({ connectionString: world.url.replace(/:\d+\//, `:${new URL(proxy.url).port}/`) })
    const register = postgresRegister(pool)
    await register.read(KEY)
    proxy.replies('lose')
    const lost = outcome(register.replace(KEY, undefined, 'a', HOUR))
    const other = postgresRegister(world.pool())
    while ((await other.read(KEY)).value !== 'a') await settle()
    proxy.cut()
    expect(reasonOf(await lost)).toBe('the connection was lost')
    proxy.replies('pass')
    // However late the step is repeated, the register holds another value than the step expects.
    expect(await register.replace(KEY, undefined, 'a', HOUR)).toBe(false)
    await pool.end()
    await proxy.stop()
  })
})

describe('given a client with its own kinds of failure', () => {
  it.each<[string, unknown, string]>([
    ['a string', 'password authentication failed for s3cret', 'the client failed'],
    ['nothing', undefined, 'the client failed'],
    ['a custom error', new Error('cannot reach postgres://user:s3cret@host'), 'the client failed'],
    ['a code that is a sentence', Object.assign(new Error(), { code: 'no s3cret' }), 'the client failed'],
    [
      'a Node error code',
      Object.assign(new Error(), { code: 'SELF_SIGNED_CERT_IN_CHAIN' }),
      'SELF_SIGNED_CERT_IN_CHAIN',
    ],
    [
      'a code that is the name of an object member',
      Object.assign(new Error(), { code: 'constructor' }),
      'the client failed',
    ],
    ['a serialization failure', Object.assign(new Error(), { code: '40001' }), '40001'],
  ])('when it rejects with %s, then the reason contains no secret', (_, thrown, reason) => {
    expect(reasonOf(thrown)).toBe(reason)
  })

  it.each<[string, unknown, string]>([
    ['nothing', undefined, ANSWER],
    ['only the rows', [{ now: 1 }], ANSWER],
    ['rows that are arrays', { rows: [[1, null]] }, ANSWER],
    ['no rows', { rows: [] }, ANSWER],
    ['bytes', { rows: [{ now: 1, value: Buffer.from('{}') }] }, ANSWER],
  ])('when it returns %s, then a read says what it must return', async (_, answer, reason) => {
    const [read] = await reasons({ query: async () => answer as never })
    expect(read).toBe(reason)
  })

  it('when it throws synchronously, then both steps reject', async () => {
    const query = () => {
      throw new Error('at once')
    }
    expect(await reasons({ query })).toEqual(three('the client failed'))
  })

  it('when it reads numbers as text, then now is a number anyway', async () => {
    const register = postgresRegister({ query: async () => ({ rows: [{ now: '1700000000000', value: null }] }) })
    expect(await register.read(KEY)).toEqual({ now: 1_700_000_000_000, epoch: null })
  })
})
