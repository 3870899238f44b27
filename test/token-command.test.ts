import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { existsSync, writeFileSync } from 'node:fs'
import { execFile } from 'node:child_process'
import { isBuiltin } from 'node:module'
import { join, resolve } from 'node:path'
import { nodeOfRegistry } from '../scripts/lib/node-sqlite.mjs'
import { EXIT } from '../tools/doctor/report.ts'
import { TOKEN_OPTIONS, TOKEN_USAGE } from '../tools/doctor/token-command.ts'
import { type SimulatedService, startTokenService } from '../tools/testing/index.ts'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'
import { nodeWithSqlite } from './support/node-sqlite.ts'

const node = nodeWithSqlite()
let built: BuiltPackage
let service: SimulatedService

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `npx axios-evergreen token` as its users do. */
function token(...args: string[]): Promise<Ended> {
  return tokenOn(node ?? process.execPath, args)
}

function tokenOn(program: string, args: string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const doctor = join(built.dir, 'node_modules', 'axios-evergreen', 'dist', 'doctor.js')
  const { clientSecret } = service.client
  const env = { ...process.env, EVERGREEN_CLIENT_SECRET: clientSecret, ...more }
  return new Promise((settle) =>
    execFile(program, [doctor, 'token', ...args], { env }, (error, stdout, stderr) => {
      expect(stdout + stderr).not.toContain(clientSecret)
      settle({ code: error ? Number(error.code) : 0, stdout, stderr })
    }),
  )
}

/** A user's module. */
function configFile(name: string, text: string): string {
  const file = resolve(built.dir, name)
  writeFileSync(file, text)
  return file
}

const stored = () => {
  const { clientId } = service.client
  return ['--file', resolve(built.dir, 'login.db'), '--token-endpoint', service.tokenEndpoint, '--client-id', clientId]
}

describe('given the command token', () => {
  beforeAll(async () => {
    built = await buildPackage()
    service = await startTokenService({ accessLifetimeMs: 300_000 })
  })
  afterAll(async () => {
    await service.close()
    await built.remove()
  })

  ;(node ? describe : describe.skip)('given a file of SQLite', () => {
    it('when no user has logged in, then one sentence says so and what to do, with a separate exit code', async () => {
      writeFileSync(resolve(built.dir, 'login.db'), '') // SQLite treats an empty file as a new one
      const { code, stdout, stderr } = await token(...stored())
      expect({ code, stdout }).toEqual({ code: EXIT.loginRequired, stdout: '' })
      expect(stderr).toMatch(
        /^A login is required .*: log in with the program .*login\.db as account '.*--account\)\n$/,
      )
    })

    it('when there is no such file, then one sentence says so, and no file is created', async () => {
      const file = resolve(built.dir, 'mistyped.db')
      const ended = await token(...stored().map((given) => given.replace('login.db', 'mistyped.db')))
      expect(ended).toMatchObject({ code: EXIT.loginRequired, stdout: '', stderr: expect.stringContaining(file) })
      expect(existsSync(file)).toBe(false)
    })

    it('when the stored access token has expired, then only a refreshed one is printed', async () => {
      const adopts = configFile(
        'adopts.mjs',
        `import { createTokenManager } from 'axios-evergreen'
       import { fromTokenResponse, oauth2 } from 'axios-evergreen/oauth2'
       import { sqliteStore } from 'axios-evergreen/sqlite'
       const [tokenEndpoint, clientId, clientSecret, file] = ${JSON.stringify([
         ...[service.tokenEndpoint, service.client.clientId, service.client.clientSecret],
         resolve(built.dir, 'login.db'),
       ])}
       const source = oauth2({ tokenEndpoint, clientId, clientSecret, grant: 'login', account: clientId })
       const tokens = createTokenManager({ source, store: sqliteStore({ file }) })
       const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret })
       const answer = await (await fetch(tokenEndpoint, { method: 'POST', body })).json()
       await tokens.adopt({ ...fromTokenResponse(answer), accessLifetimeMs: 0 })
       export { tokens }`,
      )
      const before = service.count('refresh')
      const first = await token('--config', adopts)
      expect(first).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\S+\n$/) })
      expect(service.count('refresh') - before).toBe(1)
      expect(await token(...stored())).toEqual(first)
      expect(await token(...stored(), '--header')).toMatchObject({ stdout: `Authorization: Bearer ${first.stdout}` })
      expect(service.count('refresh') - before).toBe(1)
    })
  })

  it('when a module writes to stdout, then stdout has only the token, and stderr has the rest', async () => {
    const logs = configFile(
      'logs.mjs',
      `console.log('written on load')
       export const tokens = {
         getAccessToken: () => {
           for (const method of ['info', 'debug', 'table']) console[method]('written by ' + method)
           process.stdout.write('written to stdout\\n')
           return Promise.resolve('theirs')
         },
         close: () => Promise.resolve(console.log('written at the end')),
       }`,
    )
    const { code, stdout, stderr } = await token('--config', logs)
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'theirs\n' })
    const written = ['on load', 'by info', 'by debug', 'by table', 'to stdout', 'at the end']
    expect(stderr).toBe(written.map((what) => `written ${what}\n`).join(''))
  })

  it('given a Node without node:sqlite, when --file is passed, then the program says what a shell can do', async () => {
    const NODE_OPTIONS = isBuiltin('node:sqlite') ? '--no-experimental-sqlite' : ''
    const ended = await tokenOn(process.execPath, stored(), { NODE_OPTIONS })
    expect(ended).toMatchObject({
      code: EXIT.usage,
      stdout: '',
      stderr: expect.stringMatching(/^--file needs node:sqlite.*--config/),
    })
    expect(ended.stderr).not.toMatch(/better-sqlite3/)
  })

  it('given a Node that warns of node:sqlite, when a module warns, too, then only the warning of the module is printed', async () => {
    const loads = configFile(
      'loads.mjs',
      `process.emitWarning('Theirs is an experiment', 'ExperimentalWarning')
       await import('node:sqlite')
       export const tokens = { getAccessToken: () => Promise.resolve('theirs'), close: () => Promise.resolve() }`,
    )
    const warning = nodeOfRegistry(22)
    if (warning === undefined) throw new Error('npm could not get Node 22')
    const { code, stdout, stderr } = await tokenOn(warning, ['--config', loads])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'theirs\n' })
    expect(stderr).toContain('ExperimentalWarning: Theirs is an experiment')
    expect(stderr).not.toContain('SQLite')
  })

  describe('given invalid arguments', () => {
    it.each([
      [[], /^Give --file, --issuer/],
      [['--file', 'login.db'], /^Give --file, --issuer/],
      [['--file', 'login.db', '--client-id', 'c'], /^Give --file, --issuer/],
      [['--config', 'none-exported.mjs', 'hidden-value'], /^There is an argument without an option/],
      [['--client-secret', 'hidden-value'], /^Do not pass credentials as arguments/],
      [['--header=hidden-value'], /^--header takes no value/],
      [
        ['--file', 'login.db', '--client-id', 'null', '--issuer', 'https://a.example'],
        /^--client-id must be a credential/,
      ],
      [
        ['--file', 'login.db', '--client-id', 'c', '--token-endpont', 'a'],
        /^There is no option --token-endpont: did you mean --token-endpoint\?$/m,
      ],
      [['--clientid', 'hidden-value'], /^There is no option --clientid: did you mean --client-id\?$/m],
    ])('when they are %j, then the program says which, and shows no value', async (args, message) => {
      const { code, stdout, stderr } = await token(...args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr).not.toContain('hidden-value')
      // The sentence is what a user of a shell sees: no usage pushes it off the screen.
      expect(stderr).toMatch(/^.+[.?]\nFor the options, run: npx axios-evergreen token --help\n$/)
    })

    it('when a module exports no manager, then the program says so', async () => {
      const { code, stderr } = await token('--config', configFile('none.mjs', 'export default {}'))
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^--config must export a token manager/)])
    })

    it.each([
      ['is missing', () => 'gone.mjs', /^--config: there is no file gone\.mjs/],
      [
        'needs a package that is missing',
        () => configFile('needs.mjs', "import 'no-such-package'"),
        /^--config cannot be loaded \(ERR_MODULE_NOT_FOUND\): run it with node to see why/,
      ],
      [
        'throws',
        () => configFile('throws.mjs', "throw new RangeError('hidden-value')"),
        /^--config cannot be loaded \(RangeError\)/,
      ],
    ])('when a module %s, then the program says so, and shows nothing of it', async (_, file, message) => {
      const { code, stderr } = await token('--config', file())
      expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
      expect(stderr).not.toContain('hidden-value')
    })
  })

  it('given the usage of the program, then it lists all options', () => {
    expect(Object.keys(TOKEN_OPTIONS).filter((name) => !TOKEN_USAGE.includes(`--${name}`))).toEqual([])
  })
})
