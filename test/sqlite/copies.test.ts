import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { copyFileSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { epochIn, isOther, markOf } from '../../src/sqlite/file-mark.ts'
import { sqliteStore } from '../../src/sqlite/index.ts'
import { sqliteRegister } from '../../src/sqlite/sqlite-register.ts'
import { manualClock } from '../../tools/testing/index.ts'
import { BetterSqlite, describeSqlite } from '../support/node-sqlite.ts'
import { liveThroughLoss } from '../support/lost-writes.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { Traffic } from '../support/traffic.ts'
import { sharedStore } from '../../src/store/index.ts'
import { person } from '../../src/login/index.ts'

const HOUR = 3_600_000
const KEY = '{evergreen:0123}'
const folder = mkdtempSync(join(tmpdir(), 'evergreen-copies-'))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const newFile = () => join(folder, `${(files += 1)}.db`)
const opened: { close(): void }[] = []
const open = (file: string) => {
  const database = new BetterSqlite!(file)
  opened.push(database)
  return database
}
const closeAll = () => {
  for (const database of opened.splice(0)) database.close()
}
afterEach(closeAll)
const registerOn = (file: string, clock = manualClock()) => {
  const database = open(file)
  return sqliteRegister(() => database, 100, undefined, clock)
}

/** Replaces a file by a copy. */
function replace(file: string): void {
  copyFileSync(file, `${file}.copy`)
  renameSync(`${file}.copy`, file)
}

describe('given the mark of a file', () => {
  it.each([
    ['1.2', '1.2', false],
    ['1.2', '3.2', true],
    ['1.2', '1.3', true],
    ['1.', '1.3', false],
    ['.2', '1.2', false],
    ['.2', '1.3', true],
    ['.', '1.2', false],
  ])(
    'when it is compared, %s with %s, then only the parts that both know distinguish them: %s (F302)',
    (made, here, isCopy) => {
      expect([isOther(made, here), isOther(here, made)]).toEqual([isCopy, isCopy])
      expect(epochIn(`id.${made}`, here)).toBe(isCopy ? `id.${made}/${here}` : `id.${made}`)
    },
  )

  it('when an earlier release created the table, then its epoch is the id', () => {
    expect(epochIn('abcdef', '1.2')).toBe('abcdef')
  })

  it('when there is no file, or the database has none, then the mark says so', () => {
    expect([markOf(join(folder, 'none')), markOf('')]).toEqual([undefined, '.'])
    expect(markOf(folder)).toMatch(/^\d+\.\d*$/)
  })
})

describeSqlite('given a restored copy of the file', () => {
  it('when processes open it, then all see the same new epoch, which stays (F302)', async () => {
    const file = newFile()
    const first = registerOn(file)
    const { epoch } = await first.read(KEY)
    await first.replace(KEY, undefined, 'a', HOUR, epoch!)
    expect((await registerOn(file).read(KEY)).epoch).toBe(epoch)
    closeAll()
    replace(file)
    const register = registerOn(file)
    const copied = await register.read(KEY)
    expect(copied).toMatchObject({ value: 'a', epoch: expect.not.stringMatching(`^${epoch}$`) as unknown })
    expect(await register.replace(KEY, 'a', 'b', HOUR, epoch!)).toBe(false)
    expect(await register.replace(KEY, 'a', 'b', HOUR, copied.epoch!)).toBe(true)
    expect(await registerOn(file).read(KEY)).toMatchObject({ value: 'b', epoch: copied.epoch })
  })

  it('when its refresh token is due, then no process presents it (F302)', async () => {
    const file = newFile()
    const source = new ScriptedSource({ pairs: true })
    await manage(source, { store: sqliteStore({ database: open(file) }) }).tokens.getAccessToken()
    closeAll()
    replace(file)
    const { tokens } = manage(source, { store: sqliteStore({ database: open(file) }) })
    await tokens.renew()
    expect(source.kinds).toBe('obtain obtain')
  })

  it.each([
    ['replaced', replace],
    ['deleted', rmSync],
  ])(
    'when a process still has the file that was %s, then each step rejects with that reason (F302)',
    async (_, act) => {
      const file = newFile()
      const source = new ScriptedSource({ pairs: true })
      const { tokens } = manage(source, { store: sqliteStore({ database: open(file), onUnavailable: 'fail' }) })
      await tokens.getAccessToken()
      act(file)
      for (let n = 0; n < 2; n += 1)
        expect(await outcome(tokens.renew())).toMatchObject({
          code: 'ERR_STORE_UNAVAILABLE',
          message: expect.stringContaining(
            'the file of the database was deleted or replaced: open a new one',
          ) as unknown,
        })
      expect(source.kinds).toBe('obtain')
    },
  )
})

describeSqlite('given twenty logins, each in three processes whose users ask once a second', () => {
  it('when the file is replaced by a copy from before the last renewal of each, then no login is lost (F349)', async () => {
    const file = newFile()
    const clock = manualClock()
    const place = {
      name: 'SQLite, the file replaced by its copy',
      // Each process opens the file again, as with the option `file`.
      store: () => sharedStore(sqliteRegister(() => open(file), 100, undefined, clock)),
      part: async () => copyFileSync(file, `${file}.copy`),
      lose: async () => renameSync(`${file}.copy`, file),
    }
    await liveThroughLoss(place, clock, new Traffic())
  })
})

describeSqlite('given tokens that are no longer needed, and another connection that has the file open', () => {
  /** Everything on the disk. */
  const bytesOf = (file: string) => ['', '-wal'].map((end) => readFileSync(file + end, 'latin1')).join('')
  const openLogged = () => {
    const file = newFile()
    open(file).exec('PRAGMA journal_mode = WAL')
    return file
  }

  /** A file with tokens, `none` to replace them, and a process that reads at that moment. */
  const whileOneReads = async () => {
    const file = openLogged()
    const clock = manualClock()
    const register = registerOn(file, clock)
    const [tokens, none] = ['{"shown":{"accessEnd":"soon"},"box":"SECRET"}', '{"shown":{},"box":""}']
    await register.replace(KEY, undefined, tokens, HOUR)
    const reader = open(file)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM evergreen_tokens').get()
    return { file, clock, register, tokens, none, reader }
  }

  it('when a manager logs out, then neither the file nor the log next to it contains them (F301)', async () => {
    const file = openLogged()
    const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
    const { tokens } = manage(source, { store: sqliteStore({ database: open(file) }) })
    await tokens.adopt({ accessToken: 'access-SECRET', accessLifetimeMs: 60_000, refreshToken: 'refresh-SECRET' })
    expect(bytesOf(file)).toMatch(/access-SECRET.*refresh-SECRET/s)
    await tokens.logout()
    expect(bytesOf(file)).not.toMatch(/SECRET/)
  })

  it('when another process reads at that moment, then they are gone as soon as it has read (F301)', async () => {
    const { file, clock, register, tokens, none, reader } = await whileOneReads()
    expect(await register.replace(KEY, tokens, none, HOUR)).toBe(true)
    expect(bytesOf(file)).toMatch(/SECRET/)
    reader.exec('COMMIT')
    await clock.advance(5)
    expect(bytesOf(file)).not.toMatch(/SECRET/)
    expect(clock.pendingTimers).toBe(0)
  })

  it('when that reader takes too long, then they are gone with a later write (F301)', async () => {
    const { file, clock, register, tokens, none, reader } = await whileOneReads()
    await register.replace(KEY, tokens, none, HOUR)
    await clock.advance(100)
    expect(clock.pendingTimers).toBe(0)
    reader.exec('COMMIT')
    await register.replace('{evergreen:other}', undefined, '{"shown":{"accessEnd":"soon"}}', HOUR)
    expect(bytesOf(file)).not.toMatch(/SECRET/)
  })

  it('when a row has expired, then a later write deletes it, and nothing of it can be read (F301)', async () => {
    const file = openLogged()
    const clock = manualClock()
    const register = registerOn(file, clock)
    await register.replace(KEY, undefined, 'SECRET', 30_000)
    await clock.advance(60_000)
    expect(bytesOf(file)).toMatch(/SECRET/)
    await register.replace('{evergreen:other}', undefined, '{"shown":{"accessEnd":"soon"}}', HOUR)
    expect(bytesOf(file)).not.toMatch(/SECRET/)
    const keys = open(file).prepare("SELECT group_concat(key, ' ') AS keys FROM evergreen_tokens").get()
    expect(keys).toEqual({ keys: 'epoch {evergreen:other}' })
  })
})
