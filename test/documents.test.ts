import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import ts from 'typescript'
import { type BuiltPackage, buildPackage } from './support/built-package.ts'
import { codeBlocks, documents, entries, examples, fences, prelude } from './support/document-code.ts'
import { manage } from './support/managed.ts'
import { describeRedis } from './support/redis-server.ts'
import { type RedisServer, startRedis } from '../scripts/lib/redis-server.mjs'

const readme = readFileSync('README.md', 'utf8')
const rowsUnder = (heading: string, text: string) => {
  const section = text.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  return [...section.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]!)
}

interface Results {
  scenarios: { scorecard: { results: { rows: Record<string, Record<string, { right: boolean }>> } } }
}

const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile.bind(ts.sys)) as {
  config: { compilerOptions: object }
}
const { options } = ts.convertCompilerOptionsFromJson(
  {
    ...config.compilerOptions,
    paths: Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, [file]])),
    noUnusedLocals: false,
    noUnusedParameters: false,
  },
  process.cwd(),
)

/** Whether this Node has `node:sqlite` without a flag. */
const HAS_SQLITE = isBuiltin('node:sqlite')

/** @returns What is wrong with the types of these programs. */
function complaintsOf(programs: { readonly name: string; readonly code: string }[]): string[] {
  const host = ts.createCompilerHost(options)
  const sources = new Map(
    programs.map(({ name, code }) => [join(process.cwd(), `${name.replace(/\W/g, '-')}.mts`), code]),
  )
  const [fileExists, getSourceFile] = [host.fileExists.bind(host), host.getSourceFile.bind(host)]
  host.fileExists = (name) => sources.has(name) || fileExists(name)
  host.getSourceFile = (name, language, ...rest) => {
    const source = sources.get(name)
    return source === undefined ? getSourceFile(name, language, ...rest) : ts.createSourceFile(name, source, language)
  }
  return ts
    .getPreEmitDiagnostics(ts.createProgram([...sources.keys()], options, host))
    .map(({ file, messageText }) => [file?.fileName, ts.flattenDiagnosticMessageText(messageText, '\n')].join(': '))
}

describe('given the code of all documents', () => {
  it('when it is compiled, then the types agree', () => {
    const programs = codeBlocks().map(({ name, code }) => ({ name, code: prelude(code, { typed: true }) + code }))
    expect(complaintsOf(programs)).toEqual([])
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
      expect(await built.run([file], env)).toEqual({ code: 0, printed: expect.stringMatching(/^ran$/m) })
    }
    const isRedis = ({ code }: { code: string }) => code.includes('redis://')
    const lacksSqlite = ({ code }: { code: string }) => code.includes('sqliteStore({ file') && !HAS_SQLITE
    const others = codeBlocks().filter((block) => !isRedis(block))

    it.each(others.filter((block) => !lacksSqlite(block)))(
      'when $name is run against a simulated service, then it works',
      ({ name, code }) => run(name, code, { HOME: resolve(built.dir), USERPROFILE: resolve(built.dir) }),
    )

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

/** A module with the names that the documents use but do not declare. */
const GIVEN = `
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
`

/** @returns The block, with real addresses and credentials. */
function runnable(code: string): string {
  const real = code
    .replace(/'https:\/\/payments\.example\.com(\/api)?'/g, 'service.baseUrl')
    .replace(/`https:\/\/payments\.example\.com/g, '`${service.baseUrl}')
    .replaceAll("'https://id.example.com/token'", 'service.tokenEndpoint')
    .replace(/'redis:\/\/[^']*'/g, 'process.env.REDIS')
    .replace(/\b(clientId|clientSecret): 'my-\w+'/g, '$1: service.client.$1')
    .replace(/\b(login|password): 'my-\w+'/g, '$1: service.login.$1')
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true }
  const { outputText } = ts.transpileModule(real, { compilerOptions: options })
  return `import { service } from './given.mjs'\n${prelude(code, { typed: false })}${outputText}\nconsole.log('ran')\nprocess.exit()\n`
}

describe('given the examples in the docstrings of what is public', () => {
  const found = examples(options)

  it('when they are looked for, then each function has one, which imports it from where it is', () => {
    const lacking = found.filter(({ name, entry, code }) => !new RegExp(`\\b${name}\\b.* from '${entry}'`).test(code))
    expect(lacking).toEqual([])
    expect(found.length).toBeGreaterThan(20)
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
    'when those of %s are followed, then they lead somewhere',
    (name) => {
      const links = [...readFileSync(name, 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map((match) => match[1]!)
      const dead = links.filter((link) => !/^https?:/.test(link) && !existsSync(join(dirname(name), link)))
      expect(dead).toEqual([])
    },
  )
})

describe('given the tables of events and errors', () => {
  it('when they are read, then the package has what they name, and they name all errors', () => {
    const { tokens } = manage()
    const events = rowsUnder('Events', readFileSync('docs/renewal.md', 'utf8'))
    for (const name of events) expect(tokens.on(name as 'renewed', () => undefined)).toBeInstanceOf(Function)
    expect(events.length).toBeGreaterThan(3)
    const codes = new Set(readFileSync('src/core/errors.ts', 'utf8').match(/ERR_\w+/g))
    expect(new Set(rowsUnder('Errors', readFileSync('docs/errors.md', 'utf8')))).toEqual(codes)
  })
})

describe('given the document on OAuth 2.0', () => {
  it('when the lines of its first two programs are counted, then they are 8 and at most 10', () => {
    const programs = fences('ts', readFileSync('docs/oauth2.md', 'utf8'))
    const [first, second] = programs.map((code) => code.split('\n').filter((line) => line !== '').length)
    expect(first).toBe(8)
    expect(second).toBeLessThanOrEqual(10)
  })
})

describe('given the README', () => {
  it('when its commands are read, then they are the two that the package has', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    expect(fences('sh', readme)).toEqual(['npm ci && npm run demo\nnpm ci && npm test\n'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test']))
  })

  it('when its lines and words are counted, then they are at most 90 and 700', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(90)
    expect(readme.trim().split(/\s+/).length).toBeLessThanOrEqual(700)
  })

  it('when a stranger reads it, then no word needs the glossary', () => {
    expect(readme).not.toContain('glossary')
  })
})

describe('given the scorecard', () => {
  const page = readFileSync('docs/scorecard.md', 'utf8')

  it('when it is read, then it says what was measured', () => {
    const { scenarios } = JSON.parse(readFileSync('bench/results.json', 'utf8')) as Results
    const measured = Object.values(scenarios.scorecard.results.rows).map((row) =>
      Object.values(row).map(({ right }) => (right ? '✓' : '✗')),
    )
    const shown = page.split('\n').map((line) => line.match(/[✓✗]/g) ?? [])
    expect(shown.filter((marks) => marks.length > 0)).toEqual(measured)
  })
})

describe('given a secret in the code of a page', () => {
  it.each([
    'README.md',
    ...['getting-started', 'faq', 'migrating', 'own-source', 'upgrading'].map((name) => `docs/${name}.md`),
  ])('when %s is read, then it comes from the environment', (name) => {
    const text = readFileSync(name, 'utf8').replace(/^-.*$/gm, '')
    expect(text.match(/\b(clientSecret|password): '.*/g)).toBeNull()
  })
})
