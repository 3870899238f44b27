import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bundleSource } from '../support/bundle.ts'
import { nodeWithSqlite } from '../support/node-sqlite.ts'

const NOBODY = 65_534
const RIGHTS = 'the file and its folder must belong to the user of this process, and be writable'
const node = nodeWithSqlite()
const folder = mkdtempSync(join(tmpdir(), 'evergreen-places-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

;(node ? describe : describe.skip)('given a file that is in the wrong place, or of another release', () => {
  let bundle: string
  beforeAll(async () => {
    bundle = await bundleSource()
  })

  /** Runs in a separate process. @returns Its output, as JSON. */
  async function run(program: string): Promise<unknown> {
    const text = `import { createTokenManager, sqliteStore } from ${JSON.stringify(bundle)}
      import fs from 'node:fs'
      ${program}`
    const { stdout } = await promisify(execFile)(node!, ['--no-warnings', '--input-type=module', '-e', text])
    return JSON.parse(stdout)
  }

  /** @returns The tokens that a manager on the file uses, how it obtained them, and what it reports. */
  const asked = (file: string, before = '', rest = '') =>
    run(`${before}
      let calls = 0
      const source = { id: 'a', async obtain() { calls += 1; return { accessToken: 'access-' + calls, accessLifetimeMs: 600000 } } }
      const tokens = createTokenManager({ source, store: sqliteStore({ file: ${JSON.stringify(file)}${rest} }) })
      const reports = []
      tokens.on('storeUnavailable', ({ message }) => reports.push(message))
      tokens.on('anomaly', ({ kind, message }) => kind === 'tokens-unencrypted' || reports.push(message))
      const token = await tokens.getAccessToken().catch(({ code }) => code)
      await tokens.close()
      console.log(JSON.stringify({ token, calls, reports }))`)

  const unavailable = (reason: string) => `The shared token store is unavailable (${reason})`
  /** Root may write everywhere, so it becomes the user nobody. */
  const asNobody = `if (process.getuid() === 0) process.setuid(${NOBODY})`
  const isRoot = process.getuid?.() === 0

  it.each<[string, string, (place: string, file: string) => void, string]>([
    ['a folder without access', 'closed', (place) => chmodSync(place, 0o000), 'EACCES'],
    ['a read-only folder', 'read', (place) => chmodSync(place, 0o555), 'EACCES'],
    [
      'a read-only file',
      'file',
      (place, file) => {
        writeFileSync(file, '', { mode: 0o444 })
        chmodSync(place, 0o755)
      },
      'EACCES',
    ],
    [
      'a writable file in a read-only folder',
      'beside',
      (place, file) => {
        writeFileSync(file, '', { mode: 0o600 })
        if (isRoot) chownSync(file, NOBODY, NOBODY)
        chmodSync(place, 0o555)
      },
      'READONLY',
    ],
  ])(
    'when it is %s, then the reason names the permissions, and the process uses private tokens (F151, F181)',
    async (_, name, prepare, code) => {
      const place = join(folder, name)
      chmodSync(folder, 0o755)
      mkdirSync(place)
      prepare(place, join(place, 'tokens.db'))
      expect(await asked(join(place, 'tokens.db'), asNobody)).toEqual({
        token: 'access-1',
        calls: 1,
        reports: [unavailable(`${code}: ${RIGHTS}`)],
      })
      chmodSync(place, 0o755)
    },
  )

  it('when it is on a network file system, then it is not opened, and the reason says so', async () => {
    const nfs = `const { statfsSync } = fs; fs.statfsSync = (path) => ({ ...statfsSync(path), type: 0x6969 })`
    expect(await asked(join(folder, 'nfs', 'tokens.db'), nfs)).toEqual({
      token: 'access-1',
      calls: 1,
      reports: [unavailable('file is on a network file system, where processes cannot share it: use a local path')],
    })
  })

  const stored = (file: string, change = '') =>
    run(`const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(${JSON.stringify(file)})
      ${change}
      console.log(JSON.stringify(database.prepare("SELECT value FROM evergreen_tokens WHERE key <> 'epoch'").all()))`)

  it('when a newer release wrote the record, then this one leaves it alone, and uses private tokens (F143)', async () => {
    const file = join(folder, 'newer.db')
    await asked(file)
    const newer = await stored(
      file,
      `database.exec(\`UPDATE evergreen_tokens SET value = replace(value, '"schema":1', '"schema":2')\`)`,
    )
    expect(JSON.stringify(newer)).toContain('schema\\":2')
    const reports = [expect.stringContaining('a newer release wrote it')]
    expect(await asked(file)).toEqual({ token: 'access-1', calls: 1, reports })
    expect(await stored(file)).toEqual(newer)
  })

  it('when the record has a schema below 1, then it is replaced (F142)', async () => {
    const file = join(folder, 'below.db')
    await asked(file)
    await stored(
      file,
      `database.exec(\`UPDATE evergreen_tokens SET value = replace(value, '"schema":1', '"schema":0')\`)`,
    )
    expect(await asked(file)).toMatchObject({ token: 'access-1', calls: 1 })
    expect(JSON.stringify(await stored(file))).toContain('schema\\":1')
    expect(await asked(file)).toMatchObject({ token: 'access-1', calls: 0 })
  })

  it.each([
    ['half of it', `substr(value, 1, length(value) / 2)`],
    ['a number', `'7'`],
    ['bytes that are not text', `CAST(x'ff00fe' AS TEXT)`],
    [
      'a state with an infinite number',
      String.raw`replace(value, 'accessLifetimeMs\\":600000', 'accessLifetimeMs\\":1e999')`,
    ],
    ['a state with an additional member', String.raw`replace(value, '{\\"', '{\\"no name\\":1,\\"')`],
  ])('when the record is %s, then it counts as absent, and is replaced (F141, F182)', async (name, garbage) => {
    const file = join(folder, `${name}.db`)
    await asked(file)
    const before = await stored(file)
    const change = `database.exec("UPDATE evergreen_tokens SET value = ${garbage.replaceAll('"', '\\"')} WHERE key <> 'epoch'")`
    expect(await stored(file, change)).not.toEqual(before)
    expect(await asked(file)).toMatchObject({ token: 'access-1', calls: 1 })
    expect(await asked(file)).toEqual({ token: 'access-1', calls: 0, reports: [] })
  })

  it('when an unknown key sealed the record, then it is left alone (F144)', async () => {
    const file = join(folder, 'sealed.db')
    const key = (id: string, byte: number) =>
      `, encryptionKeys: [{ id: '${id}', key: Uint8Array.from({ length: 32 }, (_, n) => n + ${byte}) }]`
    await asked(file, '', key('theirs', 1))
    const theirs = await stored(file)
    expect(await asked(file, '', key('ours', 2))).toMatchObject({ token: 'access-1', calls: 1 })
    expect(await stored(file)).toEqual(theirs)
    expect(await asked(file, '', key('theirs', 1))).toEqual({ token: 'access-1', calls: 0, reports: [] })
  })

  it('when a newer release has added a column to the table, then both share', async () => {
    const file = join(folder, 'wider.db')
    await asked(file)
    await stored(file, `database.exec('ALTER TABLE evergreen_tokens ADD COLUMN more TEXT')`)
    expect(await asked(file)).toEqual({ token: 'access-1', calls: 0, reports: [] })
  })
})
