import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import ts from 'typescript'
import { type SimulatedService, startTokenService } from '../tools/testing/index.ts'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'
import {
  type CodeBlock,
  codeBlocks,
  commands,
  documents,
  entries,
  prelude,
  scriptBlocks,
} from './support/document-code.ts'
import { examples } from './support/docstring-code.ts'
import { manage } from './support/managed.ts'
import { describeRedis, type RedisServer, startRedis } from './support/redis-server.ts'

const itemsUnder = (heading: string, text: string) => {
  const section = text.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  const items = [...section.matchAll(/^- (.*?): /gm)].flatMap(([, names]) => names!.split(', '))
  return items.filter((name) => /^`\w+`$/.test(name)).map((name) => name.slice(1, -1))
}

const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile.bind(ts.sys)) as {
  config: { compilerOptions: object }
}
const { options: typedOptions } = ts.convertCompilerOptionsFromJson(
  {
    ...config.compilerOptions,
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
    noUnusedLocals: false,
    noUnusedParameters: false,
  },
  process.cwd(),
)

/** For all processes: to generate it takes as long as to run most blocks. */
const CLIENT_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string

/** Whether this Node has `node:sqlite` without a flag. */
const HAS_SQLITE = isBuiltin('node:sqlite')

/** Scripts for pages and phones: no types, and the globals of a browser. */
const scriptOptions: ts.CompilerOptions = {
  ...typedOptions,
  allowJs: true,
  checkJs: true,
  strict: false,
  jsx: ts.JsxEmit.Preserve,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: ['node'],
}

/** @returns The type errors of these programs. */
function complaintsOf(
  programs: readonly CodeBlock[],
  options = typedOptions,
  extension = 'mts',
  ambient = '',
): string[] {
  const host = ts.createCompilerHost(options)
  const fileOf = (name: string, ending: string) => join(process.cwd(), `${name.replace(/\W/g, '-')}.${ending}`)
  const names = programs.map(({ name }) => fileOf(name, extension))
  const sources = new Map(programs.map(({ code }, n) => [names[n]!, code]))
  sources.set(fileOf('ambient', 'd.ts'), ambient)
  const [fileExists, getSourceFile] = [host.fileExists.bind(host), host.getSourceFile.bind(host)]
  host.fileExists = (name) => sources.has(name) || fileExists(name)
  host.getSourceFile = (name, language, ...rest) => {
    const source = sources.get(name)
    return source === undefined ? getSourceFile(name, language, ...rest) : ts.createSourceFile(name, source, language)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  // The package itself is checked elsewhere, without the globals of a page.
  return names
    .map((name) => program.getSourceFile(name)!)
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ file, messageText }) => [file?.fileName, ts.flattenDiagnosticMessageText(messageText, '\n')].join(': '))
}

describe('given the code of all documents', () => {
  it('when it is compiled, then the types agree', () => {
    const programs = codeBlocks().map(({ name, code }) => ({ name, code: prelude(code, { typed: true }) + code }))
    expect(complaintsOf(programs)).toEqual([])
  })

  it('when the scripts for pages are compiled, then they import or declare all that they use', () => {
    const blocks = scriptBlocks()
    const guests = new Set(blocks.flatMap(({ code }) => guestsIn(code)))
    const ambient = [...guests].map((guest) => `declare module '${guest}'\n`).join('') + AMBIENT
    expect(complaintsOf(blocks, scriptOptions, 'mjs', ambient)).toEqual([])
  })

  describe('and the built package', () => {
    let built: BuiltPackage
    beforeAll(async () => {
      built = await buildPackage()
      writeFileSync(join(built.dir, 'given.mjs'), GIVEN)
    })
    afterAll(() => built.remove())

    const run = async (name: string, code: string, env = {}) => {
      const file = join(built.dir, `${name.replace(/\W/g, '-')}.mjs`)
      await writeFile(file, runnable(code))
      expect(await built.run([file], { CLIENT_KEY, ...env })).toEqual({
        code: 0,
        printed: expect.stringMatching(/^ran$/m),
      })
    }
    const isRedis = ({ code }: { code: string }) => code.includes('redis://')
    const lacksSqlite = ({ code }: { code: string }) => /sqliteStore\(\{\s*file/.test(code) && !HAS_SQLITE
    const others = codeBlocks().filter((block) => !isRedis(block))

    it.each(others.filter((block) => !lacksSqlite(block)))(
      'when $name is run against a simulated service, then it works',
      ({ name, code }) => run(name, code, { HOME: resolve(built.dir), USERPROFILE: resolve(built.dir) }),
    )

    const isForNode = ({ code }: CodeBlock) => guestsIn(code).length === 0 && !code.includes('web/inspector')
    it.each(scriptBlocks().filter(isForNode))(
      'when $name, a script, is run instead of a page, then it works',
      async ({ name, code }) => {
        const fake = readFileSync('test/support/indexed-db.ts', 'utf8')
        const { outputText } = ts.transpileModule(fake, { compilerOptions: { module: ts.ModuleKind.ESNext } })
        writeFileSync(join(built.dir, 'page.mjs'), `${outputText}\n${PAGE}`)
        await run(name, `import './page.mjs'\n${code}`)
      },
    )

    describe('and a simulated service', () => {
      let service: SimulatedService
      beforeAll(async () => {
        service = await startTokenService()
      })
      afterAll(() => service.close())

      it.each(commands().filter(({ code }) => code.includes('axios-evergreen doctor')))(
        'when the doctor is called as in $name, then it says that all is well',
        async ({ code }) => {
          const { clientId, clientSecret } = service.client
          const command = code
            .replace('npx axios-evergreen', `"${process.execPath}" dist/doctor.js`)
            .replace('https://payments.example.com/wallet', `${service.baseUrl}/wallet`)
            .replace('https://payments.example.com/api', service.baseUrl)
          const { stdout } = await promisify(execFile)('sh', ['-c', command], {
            cwd: join(built.dir, 'node_modules', 'axios-evergreen'),
            env: { ...process.env, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
          })
          expect(stdout).toContain('All is well')
        },
      )
    })

    if (!HAS_SQLITE)
      it.each(others.filter(lacksSqlite))(
        'when $name is run on this older Node, then its error names the version that it needs',
        async ({ name, code }) => {
          const file = join(built.dir, `${name.replace(/\W/g, '-')}.mjs`)
          await writeFile(file, runnable(code))
          expect(await built.run([file])).toEqual({ code: 1, printed: expect.stringContaining('22.13') })
        },
      )

    describeRedis('and a Redis server', () => {
      let redis: RedisServer
      beforeAll(async () => {
        redis = await startRedis()
      })
      afterAll(() => redis.stop())

      it.each(codeBlocks().filter(isRedis))('when $name is run, then it works', ({ name, code }) =>
        run(name, code, { REDIS: redis.url }),
      )
    })
  })
})

/** What scripts use but do not declare, as in the TypeScript blocks. */
const AMBIENT = `
declare const tokens: import('axios-evergreen/login').LoginManager
declare const api: import('axios').AxiosInstance
`

/** @returns The packages of frameworks and phones that a script imports. They are not installed. */
function guestsIn(code: string): string[] {
  const imported = Array.from(code.matchAll(/^import (?:.* from )?'([^.][^']*)'/gm), ([, name]) => name!)
  return imported.filter((name) => !/^(axios($|-evergreen)|node:)/.test(name))
}

/** A module with the names that the documents use but do not declare. */
const GIVEN = `
import { once } from 'node:events'
import { createServer } from 'node:http'
import axios from 'axios'
import { attachBearer, createTokenManager, loginPassword } from 'axios-evergreen'
import { startTokenService } from 'axios-evergreen/testing'
export const service = await startTokenService()
const { client, login } = service
// The pages read secrets from the environment.
Object.assign(process.env, { CLIENT_ID: client.clientId, CLIENT_SECRET: client.clientSecret })
Object.assign(process.env, { ACCOUNT_LOGIN: login.login, ACCOUNT_PASSWORD: login.password })
Object.assign(process.env, { TOKEN_KEY: Buffer.from('thirty-two bytes, and no secret.').toString('base64') })
export const server = createServer()
export const tokens = createTokenManager({ source: loginPassword({ baseUrl: service.baseUrl, ...service.login }) })
// The service has no public paths: a request without a token gets a 401.
export const api = axios.create({ baseURL: service.baseUrl, validateStatus: null })
attachBearer(api, tokens)
export const logIn = () => service.logIn()
// The server of a page, which knows the user by a cookie.
const sessions = createServer((_, reply) => {
  void service.logIn().then(({ accessToken }) => reply.end(JSON.stringify({ token: accessToken })))
}).listen(0, '127.0.0.1')
await once(sessions, 'listening')
export const refreshUrl = 'http://127.0.0.1:' + sessions.address().port
`

/** A module that gives Node the globals of a page. */
const PAGE = `
import { logIn } from './given.mjs'
fakeIndexedDb()
const stored = new Map([['refreshToken', (await logIn()).refreshToken]])
globalThis.localStorage = { getItem: (name) => stored.get(name) ?? null, removeItem: (name) => stored.delete(name) }
const element = { textContent: '{ "accessToken": "a.b.c", "accessLifetimeMs": 540000 }', showModal() {}, close() {} }
globalThis.document = { getElementById: () => element, querySelector: () => element }
globalThis.location = new URL('https://payments.example.com/page')
`

/** @returns The block, with real addresses and credentials. */
function runnable(code: string): string {
  const real = code
    .replace(/'https:\/\/payments\.example\.com(\/api)?'/g, 'service.baseUrl')
    .replace(/`https:\/\/payments\.example\.com/g, '`${service.baseUrl}')
    .replaceAll("'https://id.example.com/token'", 'service.tokenEndpoint')
    .replace("'https://payments.example.com/auth/token/refresh'", "(await import('./given.mjs')).refreshUrl")
    .replace(/'redis:\/\/[^']*'/g, 'process.env.REDIS')
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true }
  const { outputText } = ts.transpileModule(real, { compilerOptions: options })
  return `import { service } from './given.mjs'\n${prelude(code, { typed: false })}${outputText}\nconsole.log('ran')\nprocess.exit()\n`
}

describe('given the examples in the docstrings of the public API', () => {
  const found = examples(typedOptions)

  it('when they are looked for, then each function has one, which imports the function from its entry', () => {
    const lacking = found.filter(({ name, entry, code }) => !new RegExp(`\\b${name}\\b.* from '${entry}'`).test(code))
    expect(lacking).toEqual([])
    expect(found.length).toBeGreaterThan(20)
  })

  it('when they are read, then each secret comes from the environment', () => {
    expect(found.filter(({ code }) => /\b(clientSecret|password): '/.test(code))).toEqual([])
  })

  it('when they are compiled, then the types agree', () => {
    const programs = found.map(({ name, entry, code }) => ({
      name: `${entry} ${name}`,
      code: prelude(code, { typed: true }) + code,
    }))
    expect(complaintsOf(programs)).toEqual([])
  })
})

describe('given the links of all documents', () => {
  it.each([...documents, 'SECURITY.md', 'CONTRIBUTING.md'])(
    'when those of %s are followed, then their targets exist',
    (name) => {
      const text = readFileSync(name, 'utf8').replace(/^```.*?^```/gms, '')
      const links = [...text.matchAll(/\]\(([^)#\s]+)/g)].map((match) => match[1]!)
      const dead = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(dirname(name), link)))
      expect(dead).toEqual([])
    },
  )
})

describe('given the lists of events and errors', () => {
  it('when they are read, then the package has what they name, and they name all errors', () => {
    const { tokens } = manage()
    const events = itemsUnder('Events', readFileSync('docs/renewal.md', 'utf8'))
    for (const name of events) expect(tokens.on(name as 'renewed', () => undefined)).toBeInstanceOf(Function)
    expect(events.length).toBeGreaterThan(3)
    const codes = new Set(readFileSync('src/core/errors.ts', 'utf8').match(/ERR_\w+/g))
    expect(new Set(itemsUnder('Errors', readFileSync('docs/errors.md', 'utf8')))).toEqual(codes)
  })
})
