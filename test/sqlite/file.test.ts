import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleSource } from '../support/bundle.ts'
import { nodeWithSqlite } from '../support/node-sqlite.ts'
import { holdLock } from './lock-holder.ts'

const node = nodeWithSqlite()
const folder = mkdtempSync(join(tmpdir(), 'evergreen-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Each line of a process's output is one JSON value. */
function start(bundle: string, program: string): { child: ChildProcess; lines: unknown[]; ended: Promise<unknown> } {
  const text = `import { createTokenManager, person, sqliteStore, startTokenService, clientCredentials, tokenRegisterChecks } from ${JSON.stringify(bundle)}
    const tell = (value) => console.log(JSON.stringify(value))
    ${program}`
  // Below the project, where the bundle finds its dependencies.
  const child = spawn(node!, ['--no-warnings', '--input-type=module', '-e', text], { stdio: ['pipe', 'pipe', 'pipe'] })
  let printed = ''
  let failed = ''
  const lines: unknown[] = []
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString()
    const whole = printed.split('\n')
    printed = whole.pop()!
    lines.push(...whole.map((line) => JSON.parse(line) as unknown))
  })
  child.stderr.on('data', (chunk: Buffer) => (failed += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0 && code !== null) throw new Error(failed)
  })
  return { child, lines, ended }
}

const manager = (file: string, rest = '') => `
  let calls = 0
  const source = { id: 'a', async obtain() { calls += 1; await new Promise((go) => setTimeout(go, 50)); return { accessToken: 'access-' + process.pid, accessLifetimeMs: 600000 } } }
  const tokens = createTokenManager({ source, store: sqliteStore({ file: ${JSON.stringify(file)}${rest} }) })
  const reports = []
  tokens.on('storeUnavailable', ({ message }) => reports.push(message))
  tokens.on('anomaly', () => {})
`

;(node ? describe : describe.skip)('given processes of one machine, and a file of node:sqlite', () => {
  let bundle: string
  beforeAll(async () => {
    bundle = await bundleSource()
  })
  const run = async (program: string) => {
    const { lines, ended } = start(bundle, program)
    await ended
    return lines
  }
  const asked = (file: string) => `${manager(file)}
    await tokens.getAccessToken()
    await tokens.close()
    tell({ calls, reports })`

  it('when five start at once, then one of them obtains, and only the owner can read the file', async () => {
    const file = join(folder, 'new', 'deep', 'tokens.db')
    const program = `${manager(file, ', commandTimeoutMs: 5000')}
      const token = await tokens.getAccessToken()
      await tokens.close()
      tell({ calls, token, reports })`
    const told = (await Promise.all([1, 2, 3, 4, 5].map(() => run(program)))).flat() as {
      calls: number
      token: string
      reports: string[]
    }[]
    expect(told.map(({ reports }) => reports)).toEqual([[], [], [], [], []])
    expect(new Set(told.map(({ token }) => token)).size).toBe(1)
    expect(told.reduce((sum, { calls }) => sum + calls, 0)).toBe(1)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(folder, 'new', 'deep')).mode & 0o777).toBe(0o700)
  })

  it('when a database of node:sqlite is passed, then two stores on it share tokens', async () => {
    const told = await run(`
      const { DatabaseSync } = await import('node:sqlite')
      let calls = 0
      const source = { id: 'a', async obtain() { calls += 1; return { accessToken: 'access-' + calls, accessLifetimeMs: 600000 } } }
      const both = [1, 2].map(() => createTokenManager({ source, store: sqliteStore({ database: new DatabaseSync(${JSON.stringify(join(folder, 'own.db'))}) }) }))
      for (const tokens of both) { tokens.on('anomaly', () => {}); tell(await tokens.getAccessToken()); await tokens.close() }`)
    expect(told).toEqual(['access-1', 'access-1'])
  })

  it('when others may read an existing file, then that permission is removed', async () => {
    const file = join(folder, 'open.db')
    await run(asked(file))
    chmodSync(file, 0o644)
    expect(await run(asked(file))).toEqual([{ calls: 0, reports: [] }])
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('when others may read the file, then they may not read what SQLite writes next to it', async () => {
    const file = join(folder, 'beside.db')
    await run(asked(file))
    chmodSync(file, 0o644)
    // The process is still running, so its files exist, too.
    const { child, lines, ended } = start(
      bundle,
      `${manager(file, ', commandTimeoutMs: 5000')}
      tell(await tokens.getAccessToken())
      setInterval(() => {}, 1_000)`,
    )
    while (lines.length === 0) await once(child.stdout!, 'data')
    const modes = ['', '-wal', '-shm'].map((end) => statSync(file + end).mode & 0o777)
    child.kill('SIGKILL')
    await ended
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  it.each([
    [`new URL('https://example.com/tokens.db')`],
    [`new URL('file://host/tokens.db')`],
    [`'file:///tmp/tokens.db'`],
    [`'file:tokens.db?mode=memory'`],
    [`':memory:'`],
  ])('when the address is %s, then the TypeError names the option', async (address) => {
    const program = `try { sqliteStore({ file: ${address} }) } catch (error) { tell([error.name, error.message]) }`
    const message = "file must be a path, or new URL('file:///...'), in a folder that all processes share"
    expect(await run(program)).toEqual([['TypeError', message]])
  })

  it.each<[string, (file: string) => unknown, string]>([
    [
      'no database',
      (file) => writeFileSync(file, 'text, '.repeat(1_000), { mode: 0o644 }),
      'NOTADB: the file is not an SQLite database: name another file',
    ],
    ['a folder', (file) => mkdirSync(file), 'EISDIR: file is a folder'],
  ])('when it is %s, then the reason says so, and it is left unchanged (F141)', async (name, make, reason) => {
    const file = join(folder, name)
    make(file)
    const before = statSync(file).mode
    expect(await run(asked(file))).toEqual([
      { calls: 1, reports: [`The shared token store is unavailable (${reason})`] },
    ])
    expect(statSync(file).mode).toBe(before)
  })

  it('when it belongs to another application, then the reason says so, and it is left unchanged', async () => {
    const file = join(folder, 'theirs.db')
    await run(`
      const { DatabaseSync } = await import('node:sqlite')
      new DatabaseSync(${JSON.stringify(file)}).exec('CREATE TABLE notes (n)')`)
    chmodSync(file, 0o644)
    const reason = 'file is the database of another application: use another file, or pass the database as database'
    expect(await run(asked(file))).toEqual([
      { calls: 1, reports: [`The shared token store is unavailable (${reason})`] },
    ])
    expect(statSync(file).mode & 0o777).toBe(0o644)
  })

  it('when it cannot be used, then no attempt leaves it open', async () => {
    const told = await run(`
      const { DatabaseSync } = await import('node:sqlite')
      const theirs = new DatabaseSync(${JSON.stringify(join(folder, 'others.db'))})
      theirs.exec('CREATE TABLE notes (n)')
      theirs.close()
      const { exec, close } = DatabaseSync.prototype
      const open = new Set()
      Object.assign(DatabaseSync.prototype, {
        exec(...given) { open.add(this); return exec.apply(this, given) },
        close() { open.delete(this); close.call(this) },
      })
      ${manager(join(folder, 'others.db'))}
      for (let n = 0; n < 3; n += 1) await tokens.reset().catch(() => {})
      tell({ reports: reports.length, open: open.size })`)
    expect(told).toEqual([{ reports: 1, open: 0 }])
  })

  /** Creates the file as a process with an older Node does: with a `database`. */
  const made = (file: string, more = '') =>
    run(`
      const { DatabaseSync } = await import('node:sqlite')
      const database = new DatabaseSync(${JSON.stringify(file)})
      const source = { id: 'a', obtain: async () => ({ accessToken: 'access-1', accessLifetimeMs: 600000 }) }
      const tokens = createTokenManager({ source, store: sqliteStore({ database }) })
      tokens.on('anomaly', () => {})
      await tokens.getAccessToken()
      await tokens.close()
      ${more}`)

  it('when a process with a database created it, then it is shared, and is marked as a file of this store (F300)', async () => {
    const file = join(folder, 'made.db')
    await made(file)
    expect(await run(asked(file))).toEqual([{ calls: 0, reports: [] }])
    const marks = await run(`
      const { DatabaseSync } = await import('node:sqlite')
      const of = (name) => Object.values(new DatabaseSync(${JSON.stringify(file)}).prepare('PRAGMA ' + name).get())[0]
      tell([of('application_id').toString(16), of('journal_mode')])`)
    expect(marks).toEqual([['45564752', 'wal']])
  })

  it('when its database has tables of the application, too, then it is left unchanged (F300)', async () => {
    const file = join(folder, 'mixed.db')
    await made(file, `database.exec('CREATE TABLE notes (n)')`)
    const reason = 'file is the database of another application: use another file, or pass the database as database'
    const reports = [`The shared token store is unavailable (${reason})`]
    expect(await run(asked(file))).toEqual([{ calls: 1, reports }])
  })

  it.each([
    ['this store', (file: string) => run(asked(file))],
    ['a process with a database', (file: string) => made(file)],
  ])(
    'when %s created it, and another process holds its lock, then a starting process uses the stored token (F299)',
    async (name, make) => {
      const file = join(folder, `locked by ${name}.db`)
      await make(file)
      const holder = await holdLock(node!, file)
      const told = await run(asked(file))
      await holder.letGo()
      expect(told).toEqual([{ calls: 0, reports: [] }])
    },
  )

  it('when a program does nothing but store tokens, then it waits until another process releases the lock (F299)', async () => {
    const file = join(folder, 'patient.db')
    await run(asked(file))
    const holder = await holdLock(node!, file)
    const { child, lines, ended } = start(
      bundle,
      `
      const { DatabaseSync } = await import('node:sqlite')
      const { exec } = DatabaseSync.prototype
      DatabaseSync.prototype.exec = function (sql) {
        try { exec.call(this, sql) } catch (error) { tell('held up'); throw error }
      }
      const source = { id: 'a', login: person, obtain() {}, refresh() {} }
      const tokens = createTokenManager({ source, store: sqliteStore({ file: ${JSON.stringify(file)}, commandTimeoutMs: 600000 }) })
      tokens.on('anomaly', () => {})
      await tokens.adopt({ accessToken: 'access-1', accessLifetimeMs: 60000, refreshToken: 'refresh-1' })
      tell('stored')`,
    )
    while (lines.length === 0) await once(child.stdout!, 'data')
    await holder.letGo()
    await ended
    expect([lines[0], lines.at(-1)]).toEqual(['held up', 'stored'])
  })

  it('when it is deleted, or replaced by a copy, then a process that has it open continues with the current file (F302)', async () => {
    const file = join(folder, 'moved.db')
    const { child, lines, ended } = start(
      bundle,
      `let issued = 0
      const kinds = []
      const grant = (kind) => { kinds.push(kind); issued += 1; return { accessToken: 'access-' + issued, accessLifetimeMs: 600000, refreshToken: 'refresh-' + issued } }
      const source = { id: 'a', obtain: async () => grant('obtain'), refresh: async () => grant('refresh') }
      const tokens = createTokenManager({ source, store: sqliteStore({ file: ${JSON.stringify(file)} }) })
      const reports = []
      tokens.on('storeUnavailable', ({ message }) => reports.push(message))
      tokens.on('anomaly', () => {})
      const renew = async () => { await tokens.renew(); tell({ kinds, reports }) }
      process.stdin.on('data', renew)
      process.stdin.on('end', () => process.exit())
      await tokens.getAccessToken()
      await renew()`,
    )
    const told = async (count: number) => {
      while (lines.length < count) await once(child.stdout!, 'data')
      return lines[count - 1]
    }
    expect(await told(1)).toEqual({ kinds: ['obtain', 'refresh'], reports: [] })
    copyFileSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
    child.stdin!.write('go')
    expect(await told(2)).toMatchObject({ kinds: ['obtain', 'refresh', 'obtain'], reports: [] })
    for (const end of ['', '-wal', '-shm']) rmSync(file + end)
    child.stdin!.write('go')
    expect(await told(3)).toMatchObject({ kinds: ['obtain', 'refresh', 'obtain', 'obtain'], reports: [] })
    child.stdin!.end()
    await ended
    expect(existsSync(file)).toBe(true)
  })

  it('when a process is repeatedly suspended during its steps, then it continues without harm (F240)', async () => {
    const file = join(folder, 'stopped.db')
    const { child, lines, ended } = start(
      bundle,
      `${manager(file)}
      for (let n = 0; n < 300; n += 1) { await tokens.reset().catch(() => {}); if (n % 30 === 29) tell(n) }
      await tokens.getAccessToken()
      await tokens.close()
      tell('done')`,
    )
    for (let seen = 0; seen < 9; seen += 1) {
      while (lines.length <= seen) await new Promise(setImmediate)
      child.kill('SIGSTOP')
      // Between these stops, another process uses the file, or gets an error.
      await run(asked(file))
      child.kill('SIGCONT')
    }
    await ended
    expect(lines.at(-1)).toBe('done')
    expect(await run(asked(file))).toEqual([{ calls: 0, reports: [] }])
  })
})
