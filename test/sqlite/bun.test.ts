import { afterAll, describe, expect, it } from '@jest/globals'
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

/** Bun of the registry: npm puts its folder of binaries first on PATH. Bun runs the source unchanged. */
function bunOfRegistry(): string | undefined {
  const how = ['exec', '--yes', '--package=@oven/bun-linux-x64@1.4.5', '-c', `node -p 'process.env.PATH.split(":")[0]'`]
  try {
    const folder = execFileSync('npm', how, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], cwd: '/' }).trim()
    const bun = join(folder, '..', '@oven', 'bun-linux-x64', 'bin', 'bun')
    execFileSync(bun, ['--version'])
    return bun
  } catch {
    console.warn('\nSKIPPED: suites on bun:sqlite: npm could not get Bun for this system.')
    return undefined
  }
}

const bun = bunOfRegistry()
const folder = mkdtempSync(join(tmpdir(), 'evergreen-bun-'))
afterAll(() => rmSync(folder, { recursive: true }))
const source = (name: string) => JSON.stringify(resolve('src', name))

/** @returns The output of the program, as JSON. */
async function run(program: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(bun!, ['-e', program])
  return JSON.parse(stdout)
}

;(bun ? describe : describe.skip)('given Bun', () => {
  it('when the register on a database of bun:sqlite is checked, then all checks pass', async () => {
    const results = (await run(`
      import { Database } from 'bun:sqlite'
      import { sqliteRegister } from ${source('sqlite/sqlite-register.ts')}
      import { tokenRegisterChecks } from ${source('../tools/testing/index.ts')}
      const results = []
      const create = async () => {
        const database = new Database(${JSON.stringify(join(folder, 'checked.db'))})
        return { register: sqliteRegister(() => database, 1000), end: async () => database.close() }
      }
      for (const { name, run } of tokenRegisterChecks(create)) results.push([name, await run().then(() => 'kept', String)])
      console.log(JSON.stringify(results))`)) as [string, string][]
    expect(results.length).toBeGreaterThan(10)
    expect(results.filter(([, result]) => result !== 'kept')).toEqual([])
  })

  it('when one store has a file, and another has a database on it, then they share', async () => {
    const file = JSON.stringify(join(folder, 'shared.db'))
    expect(
      await run(`
        import { Database } from 'bun:sqlite'
        import { createTokenManager } from ${source('index.ts')}
        import { sqliteStore } from ${source('sqlite/index.ts')}
        let calls = 0
        const source = { id: 'a', obtain: async () => ({ accessToken: 'access-' + (calls += 1), accessLifetimeMs: 600000 }) }
        const got = []
        for (const where of [{ file: ${file} }, { database: new Database(${file}) }]) {
          const tokens = createTokenManager({ source, store: sqliteStore(where) })
          tokens.on('anomaly', () => {})
          got.push(await tokens.getAccessToken())
          await tokens.close()
        }
        console.log(JSON.stringify(got))`),
    ).toEqual(['access-1', 'access-1'])
  })

  it('when the application has a transaction open, or has closed the database, then the reason says so', async () => {
    expect(
      await run(`
        import { Database } from 'bun:sqlite'
        import { reasonOf } from ${source('sqlite/reason.ts')}
        import { sqliteRegister } from ${source('sqlite/sqlite-register.ts')}
        const database = new Database(${JSON.stringify(join(folder, 'own.db'))})
        const register = sqliteRegister(() => database, 20)
        const reasons = [await register.read('key').then(() => 'none', reasonOf)]
        database.exec('BEGIN')
        reasons.push(await register.read('key').then(() => 'none', reasonOf))
        database.exec('COMMIT')
        database.close()
        reasons.push(await register.read('key').then(() => 'none', reasonOf))
        console.log(JSON.stringify(reasons))`),
    ).toEqual([
      'none',
      'the database has an open transaction, which could be rolled back: pass a separate connection',
      'the database is closed: close the manager first',
    ])
  })
})
