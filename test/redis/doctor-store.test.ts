import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'
import { nodeWithSqlite } from '../support/node-sqlite.ts'
import { describePostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts'
import { describeRedis, startRedis } from '../support/redis-server.ts'

let built: BuiltPackage
beforeAll(async () => void (built = await buildPackage()))
afterAll(() => built.remove())

const PROGRAM = () => join(built.dir, 'node_modules', 'axios-evergreen', 'dist', 'doctor.js')
const doctor = (...args: string[]) => built.run([PROGRAM(), 'doctor', ...args])

/** Runs a program in a newer Node. @returns Its output. */
const run = async (node: string, args: string[]): Promise<string> => (await promisify(execFile)(node, args)).stdout

/** A module of the user. */
function moduleFile(name: string, text: string): string {
  const file = resolve(built.dir, name)
  writeFileSync(file, text)
  return file
}

const redisModule = (url: string, more = '') =>
  moduleFile(
    'store.mjs',
    `import { createClient } from 'redis'
     import { redisStore } from 'axios-evergreen/redis'
     const client = createClient({ url: ${JSON.stringify(url)} })
     client.on('error', () => undefined)
     await client.connect()
     ${more}
     export const store = redisStore({ client, encryptionKeys: [{ id: 'k', key: crypto.getRandomValues(new Uint8Array(32)) }] })`,
  )

describeRedis('given a module that exports a store on Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => void (server = await startRedis()))
  afterAll(() => server.stop())

  it('when the doctor checks it, then it reports the time of a step, and that other processes find what it stored', async () => {
    const { code, printed } = await doctor('--store', redisModule(server.url))
    expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/All is well\.\n$/) })
    expect(printed).toMatch(/^store +redis: reads and writes in [\d.]+ ms each; a second manager found the token$/m)
  })

  it('when JSON is requested, then the findings are the same', async () => {
    const { code, printed } = await doctor('--json', '--store', redisModule(server.url))
    const { exitCode, store } = JSON.parse(printed) as Record<string, unknown>
    expect([code, exitCode, store]).toEqual([0, 0, { kind: 'redis', stepMs: expect.any(Number), isShared: true }])
  })

  it('when the module writes to stdout, then stdout has only the JSON', async () => {
    const logs = redisModule(server.url, "console.log('a line of the module')")
    const stdout = await run(process.execPath, [PROGRAM(), 'doctor', '--json', '--store', logs])
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0 })
  })

  it('when the server is a read-only replica, then the problem names the cure, and the exit code is 3', async () => {
    const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(server.port)] })
    const { code, printed } = await doctor('--store', redisModule(replica.url))
    await replica.stop()
    expect({ code, printed }).toEqual({
      code: 3,
      printed: expect.stringMatching(
        /^store +redis: cannot be used\n[^]*PROBLEM \(store\) ERR_STORE_UNAVAILABLE\n.*primary/m,
      ),
    })
  })

  it('when the connection is gone, then the problem says so, and the program ends', async () => {
    const { code, printed } = await doctor('--store', redisModule(server.url, 'client.destroy()'))
    expect([code, printed]).toEqual([3, expect.stringMatching(/PROBLEM \(store\) ERR_STORE_UNAVAILABLE/)])
  })
})

describePostgres('given a module that exports a store on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => void (server = await startPostgres()))
  afterAll(() => server.stop())

  const postgresModule = (prepare: string) =>
    moduleFile(
      'postgres.mjs',
      `import { Pool } from 'pg'
       import { createTableStatement, postgresStore } from 'axios-evergreen/postgres'
       const pool = new Pool({ connectionString: ${JSON.stringify(server.url)} })
       ${prepare}
       export const store = postgresStore({ pool, commandTimeoutMs: 5_000 })`,
    )

  it('when the table is missing, then the problem names the statement that creates it', async () => {
    const { code, printed } = await doctor('--store', postgresModule(''))
    expect({ code, printed }).toEqual({
      code: 3,
      printed: expect.stringMatching(/PROBLEM \(store\) ERR_STORE_UNAVAILABLE\n.*createTable/m),
    })
  })

  it('when the doctor checks it, then it reports the time of a step, and that other processes find what it stored', async () => {
    const { code, printed } = await doctor('--store', postgresModule('await pool.query(createTableStatement())'))
    expect([code, printed]).toEqual([
      0,
      expect.stringMatching(/^store +postgres: reads and writes in [\d.]+ ms each; a second manager found the token$/m),
    ])
  })
})

const node = nodeWithSqlite()
;(node ? it : it.skip)(
  'given a file of SQLite, when the doctor checks it, then it reads and writes there',
  async () => {
    const file = resolve(built.dir, 'login.db')
    const make = `import { sqliteStore } from 'axios-evergreen/sqlite'
    import { createTokenManager } from 'axios-evergreen'
    const obtain = async () => ({ accessToken: 'a', accessLifetimeMs: 60_000 })
    const store = sqliteStore({ file: ${JSON.stringify(file)} })
    await createTokenManager({ source: { id: 'one', obtain }, store }).getAccessToken()`
    await run(node!, [moduleFile('make.mjs', make)])
    const checked = await run(node!, [PROGRAM(), 'doctor', '--store', file])
    expect(checked).toMatch(/^store +sqlite: reads and writes in [\d.]+ ms each; a second manager found the token$/m)
  },
)

;(node ? describe : describe.skip)('given a file for --store that is no module', () => {
  const checked = (file: string) =>
    new Promise<{ code: number; printed: string }>((settle) =>
      execFile(node!, [PROGRAM(), 'doctor', '--store', file], (error, stdout, stderr) =>
        settle({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
      ),
    )
  const fileOf = (name: string, content: string | Buffer) => {
    const file = resolve(built.dir, name)
    writeFileSync(file, content)
    return file
  }

  it('when it is empty, then the doctor uses it as sqliteStore() does', async () => {
    expect(await checked(fileOf('empty.db', ''))).toEqual({
      code: 0,
      printed: expect.stringMatching(/^store +sqlite: reads and writes/m),
    })
  })

  it.each(['overwritten.db', 'overwritten'])('when %s holds something else, then the doctor says so', async (name) => {
    expect(await checked(fileOf(name, randomBytes(4_096)))).toEqual({
      code: 3,
      printed: expect.stringMatching(
        /PROBLEM \(store\) ERR_STORE_UNAVAILABLE\n.*NOTADB: the file is not an SQLite database/,
      ),
    })
  })
})

describe('given the arguments of the doctor', () => {
  it('when this Node has no node:sqlite, then the program says what a shell can do', async () => {
    const file = resolve(built.dir, 'any.db')
    writeFileSync(file, '')
    const NODE_OPTIONS = isBuiltin('node:sqlite') ? '--no-experimental-sqlite' : ''
    const { code, printed } = await built.run([PROGRAM(), 'doctor', '--store', file], { NODE_OPTIONS })
    expect([code, printed]).toEqual([2, expect.stringMatching(/^--store needs node:sqlite.*a module/)])
    expect(printed).not.toMatch(/better-sqlite3/)
  })

  it('when --store names no store, then the program says so', async () => {
    for (const [file, message] of [
      [moduleFile('none.mjs', 'export default 1'), /^--store must be a file of sqliteStore\(\), or a module/],
      ['gone.db', /^--store: there is no file gone\.db/],
    ] as const) {
      const { code, printed } = await doctor('--store', file)
      expect([code, printed]).toEqual([2, expect.stringMatching(message)])
    }
  })

  it('when --api has no service, then the program says what is missing', async () => {
    const { code, printed } = await doctor('--store', 'x.mjs', '--api', 'https://api.example.com')
    expect([code, printed]).toEqual([2, expect.stringMatching(/^--api needs a service/)])
  })
})
