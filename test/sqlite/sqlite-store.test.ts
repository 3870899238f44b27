import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore, type SqliteStoreOptions } from '../../src/sqlite/index.ts'
import { reasonOf } from '../../src/sqlite/reason.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { readOptions } from '../../src/core/option-checks.ts'
import { SHARED, storeOn } from '../../src/store/shared-store.ts'
import { manualClock, tokenRegisterChecks } from '../../tools/testing/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { sharedStoreContract } from '../support/token-store-contract.ts'

const HOUR = 3_600_000
const KEY = '{evergreen:0123}'
const folder = mkdtempSync(join(tmpdir(), 'evergreen-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, `${(files += 1)}.db`)
const opened: { close(): void }[] = []
const open = (file: string, readonly = false) => {
  const database = new BetterSqlite!(file, { readonly })
  opened.push(database)
  return database
}
afterEach(() => {
  for (const database of opened.splice(0)) database.close()
})
const registerOn = (file: string, busyMs = 100) => {
  const database = open(file)
  return sqliteRegister(() => database, busyMs)
}

describeSqlite('given a database of better-sqlite3', () => {
  const shared = newFile()
  for (const { name, run } of tokenRegisterChecks(async () => ({ register: registerOn(shared) })))
    it(`when its register is checked, then ${name}`, run)

  sharedStoreContract('sqlite', (clock) => {
    const database = open(newFile())
    return storeOn(
      sqliteRegister(() => database, 100, undefined, clock),
      readOptions('The options', {}, SHARED, ''),
      reasonOf,
    )
  })

  it('when the machine sleeps during a refresh of a login, then the refresh token is presented once (F353)', async () => {
    const file = newFile()
    const clock = manualClock()
    const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
    const process = () => {
      const database = open(file)
      const store = sharedStore(sqliteRegister(() => database, 100, undefined, clock))
      return manage(source, { store, storeKey: 'ada', renewal: { keepWarm: 'never' } }, clock).tokens
    }
    const [first, second] = [process(), process()]
    await first.adopt({ accessToken: 'first', accessLifetimeMs: 60_000, refreshToken: 'refresh-0' })
    await second.getAccessToken()
    source.takesMs = 2_000
    await clock.advance(61_000)
    const served = [outcome(first.getAccessToken())]
    await clock.advance(500)
    clock.stepWall(20_000)
    served.push(outcome(second.getAccessToken()))
    await clock.advance(5_000)
    expect(await Promise.all(served)).toEqual(['access-1', 'access-1'])
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['refresh-0'])
  })

  it('when two processes share it, then one of them obtains', async () => {
    const file = newFile()
    const source = new ScriptedSource({ pairs: true })
    const [first, second] = [1, 2].map(() => manage(source, { store: sqliteStore({ database: open(file) }) }).tokens)
    expect([await first!.getAccessToken(), await second!.getAccessToken()]).toEqual(['access-1', 'access-1'])
    await first!.renew()
    expect(source.kinds).toBe('obtain refresh')
  })

  it('when another connection writes, then a step waits within its limit, rejects, and the next one succeeds', async () => {
    const file = newFile()
    const [mine, other] = [registerOn(file, 20), open(file)]
    await mine.replace(KEY, undefined, 'a', HOUR)
    other.exec('BEGIN IMMEDIATE')
    expect(reasonOf(await outcome(mine.replace(KEY, 'a', 'b', HOUR)))).toMatch(
      /^BUSY: another process has held the lock/,
    )
    other.exec('ROLLBACK')
    expect(await mine.replace(KEY, 'a', 'b', HOUR)).toBe(true)
  })

  it('when the application has a transaction open, then both steps reject, and the transaction is untouched', async () => {
    const database = open(newFile())
    const register = sqliteRegister(() => database, 20)
    await register.replace(KEY, undefined, 'a', HOUR)
    database.exec('CREATE TABLE theirs (n); BEGIN; INSERT INTO theirs VALUES (1)')
    const reason = 'the database has an open transaction, which could be rolled back: pass a separate connection'
    expect(reasonOf(await outcome(register.replace(KEY, 'a', 'b', HOUR)))).toBe(reason)
    expect(reasonOf(await outcome(register.read(KEY)))).toBe(reason)
    database.exec('COMMIT')
    expect(database.prepare('SELECT count(*) AS n FROM theirs').get()).toEqual({ n: 1 })
    expect(await register.replace(KEY, 'a', 'b', HOUR)).toBe(true)
  })

  it('when a step has ended, then the busy timeout of the application is restored', async () => {
    const database = open(newFile())
    database.exec('PRAGMA busy_timeout = 1234')
    await sqliteRegister(() => database, 20).read(KEY)
    expect(database.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 1_234 })
  })

  it('when the file is recreated between a read and its replace, then nothing is stored (F236)', async () => {
    const [before, after] = [registerOn(newFile()), registerOn(newFile())]
    const { epoch } = await before.read(KEY)
    expect(await after.replace(KEY, undefined, 'a', HOUR, epoch!)).toBe(false)
    const reading = await after.read(KEY)
    expect(reading.epoch).not.toBe(epoch)
    expect(await after.replace(KEY, undefined, 'a', HOUR, reading.epoch!)).toBe(true)
  })

  it('when another process empties the table, then it has another epoch, and can store again (F236)', async () => {
    const file = newFile()
    const register = registerOn(file)
    const { epoch } = await register.read(KEY)
    open(file).exec('DELETE FROM evergreen_tokens')
    expect(await register.replace(KEY, undefined, 'a', HOUR, epoch!)).toBe(false)
    const emptied = await register.read(KEY)
    expect(emptied.epoch).not.toBe(epoch)
    expect(await register.replace(KEY, undefined, 'a', HOUR, emptied.epoch!)).toBe(true)
  })

  it.each<[string, (file: string) => void, RegExp]>([
    [
      'is not a database',
      (file) => writeFileSync(file, 'no database, '.repeat(1_000)),
      /^NOTADB: the file is not an SQLite database/,
    ],
    [
      'has a table of another shape',
      (file) => open(file).exec('CREATE TABLE evergreen_tokens (key TEXT PRIMARY KEY, other TEXT)'),
      /^the table does not have the columns of this store$/,
    ],
  ])('when the file %s, then the reason says so (F141)', async (_, make, reason) => {
    const file = newFile()
    make(file)
    const database = open(file)
    expect(reasonOf(await outcome(sqliteRegister(() => database, 20).read(KEY)))).toMatch(reason)
  })

  it('when the table cannot be created, then each step says why, and no transaction stays open (F181)', async () => {
    const database = open(newFile())
    database.exec('CREATE TABLE evergreen_tokens (key TEXT PRIMARY KEY, other TEXT)')
    const register = sqliteRegister(() => database, 20)
    for (const step of [() => register.read(KEY), () => register.read(KEY)])
      expect(reasonOf(await outcome(step()))).toBe('the table does not have the columns of this store')
    database.exec('BEGIN; DROP TABLE evergreen_tokens; COMMIT')
    expect(await register.replace(KEY, undefined, 'a', HOUR)).toBe(true)
  })

  it('when the table is deleted in the meantime, then the reason says so (F181)', async () => {
    const database = open(newFile())
    const register = sqliteRegister(() => database, 20)
    await register.read(KEY)
    database.exec('DROP TABLE evergreen_tokens')
    expect(reasonOf(await outcome(register.read(KEY)))).toMatch(/^the table was deleted/)
  })

  it('when a value is bytes instead of text, then it counts as absent, and is replaced (F141, F182)', async () => {
    const database = open(newFile())
    const register = sqliteRegister(() => database, 20)
    await register.replace(KEY, undefined, 'a', HOUR)
    database.exec("UPDATE evergreen_tokens SET value = x'00ff' WHERE key <> 'epoch'")
    expect((await register.read(KEY)).value).toBe('')
    expect(await register.replace(KEY, '', 'b', HOUR)).toBe(true)
    expect((await register.read(KEY)).value).toBe('b')
  })

  it('when it opens an existing file, then a power cut undoes no step', async () => {
    const file = newFile()
    open(file).exec('PRAGMA journal_mode = WAL; CREATE TABLE theirs (n)')
    const database = open(file)
    const level = () => database.prepare('PRAGMA synchronous').get()
    expect(level()).toEqual({ synchronous: 1 })
    await sqliteRegister(() => database, 20).read(KEY)
    expect(level()).toEqual({ synchronous: 2 })
  })

  it('when the database is read-only or closed, then the reason says so (F151)', async () => {
    const file = newFile()
    await registerOn(file).replace(KEY, undefined, 'a', HOUR)
    const database = open(file, true)
    const register = sqliteRegister(() => database, 20)
    expect(reasonOf(await outcome(register.replace(KEY, 'a', 'b', HOUR)))).toMatch(/^READONLY: the file and its folder/)
    const closed = open(file)
    closed.close()
    expect(reasonOf(await outcome(sqliteRegister(() => closed, 20).read(KEY)))).toBe(
      'the database is closed: close the manager first',
    )
  })

  it('when the disk is full, then the reason says so, and the stored value is unchanged', async () => {
    const database = open(newFile())
    const register = sqliteRegister(() => database, 20)
    await register.replace(KEY, undefined, 'a', HOUR)
    const { page_count: pages } = database.prepare('PRAGMA page_count').get() as { page_count: number }
    database.exec(`PRAGMA max_page_count = ${pages}`)
    expect(reasonOf(await outcome(register.replace(KEY, 'a', 'x'.repeat(100_000), HOUR)))).toBe(
      'FULL: the disk is full, free space on it',
    )
    expect((await register.read(KEY)).value).toBe('a')
  })
})

describe('given invalid options of sqliteStore', () => {
  it.each<[string, object, string]>([
    ['neither file nor database', {}, 'Pass either file or database'],
    ['both', { file: 'a.db', database: { exec() {}, prepare() {} } }, 'Pass either file or database'],
    ['a database of another type', { database: { query: () => 1 } }, 'database must have a method exec'],
    ['a table with a quote', { database: { exec() {}, prepare() {} }, table: 'a"b' }, 'table must be a name'],
    ['an unknown option', { database: { exec() {}, prepare() {} }, path: 'a' }, 'path'],
  ])('when there is %s, then it is rejected by name (F181)', (_, options, words) => {
    const create = () => sqliteStore(options as SqliteStoreOptions)
    expect(create).toThrow(TypeError)
    expect(create).toThrow(words)
  })

  const hasSqlite = process.getBuiltinModule('node:sqlite') !== undefined
  it(`when this Node ${hasSqlite ? 'has' : 'has no'} node:sqlite, then file is ${hasSqlite ? 'accepted' : 'rejected, and the required version is named'}`, () => {
    const create = () => sqliteStore({ file: join(folder, 'version.db') })
    if (hasSqlite) expect(create().kind).toBe('sqlite')
    else
      expect(create).toThrow(
        new TypeError(
          'file needs node:sqlite, of Node 22.13 or newer: update Node, or pass a database of better-sqlite3',
        ),
      )
  })
})
