import { afterAll, describe, expect, it } from '@jest/globals'
import axios from 'axios'
import nock from 'nock'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import * as evergreen from '../src/index.ts'
import { manage } from './support/managed.ts'

const readme = readFileSync('README.md', 'utf8')
const blocks = (language: string, text = readme) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map((match) => match[1]!)
const documents = ['README.md', ...readdirSync('docs').map((name) => join('docs', name))].filter((name) =>
  name.endsWith('.md'),
)
const rowsUnder = (heading: string) => {
  const section = readme.split(`\n## ${heading}\n`)[1]!.split('\n## ')[0]!
  return [...section.matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]!)
}

const paths = {
  'axios-evergreen': ['./src/index.ts'],
  'axios-evergreen/redis': ['./src/redis/index.ts'],
  'axios-evergreen/testing': ['./src/testing/index.ts'],
}

/** Runs a block as it stands, but for its imports. */
function run(block: string, result: string): Promise<unknown> {
  const body = block
    .replace(/^import axios from 'axios'$/gm, '')
    .replace(/^import (\{.*?\}) from 'axios-evergreen'$/gm, 'const $1 = evergreen')
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (...given: unknown[]) => Promise<unknown>
  return new AsyncFunction('axios', 'evergreen', `${body}\nreturn ${result}`)(axios, evergreen)
}

describe('given the README', () => {
  afterAll(() => nock.restore())

  it('when its code is run against the addresses it names, then the request carries the token', async () => {
    nock('https://payments.example.com')
      .post('/api/token/', {
        data: { type: 'auth-token', attributes: { client_id: 'my-key', client_secret: 'my-secret' } },
      })
      .reply(200, {
        data: { type: 'auth-token', id: '1', attributes: { access: 'abc', expires_in: 60, token_type: 'Bearer' } },
      })
    nock('https://payments.example.com', { reqheaders: { authorization: 'Bearer abc' } })
      .get('/wallet')
      .reply(200, { balance: 7 })
    expect(await run(blocks('ts')[0]!, 'wallet.data')).toEqual({ balance: 7 })
    expect(nock.pendingMocks()).toEqual([])
  })

  it('when the code of all documents is compiled, then the types agree', () => {
    const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile.bind(ts.sys)) as {
      config: { compilerOptions: object }
    }
    const { options } = ts.convertCompilerOptionsFromJson(
      { ...config.compilerOptions, paths, noUnusedLocals: false },
      process.cwd(),
    )
    const host = ts.createCompilerHost(options)
    const code = documents.flatMap((name) => blocks('ts', readFileSync(name, 'utf8')))
    const sources = new Map(code.map((block, n) => [join(process.cwd(), `document-${n}.mts`), block]))
    const [fileExists, getSourceFile] = [host.fileExists.bind(host), host.getSourceFile.bind(host)]
    host.fileExists = (name) => sources.has(name) || fileExists(name)
    host.getSourceFile = (name, language, ...rest) => {
      const source = sources.get(name)
      return source === undefined ? getSourceFile(name, language, ...rest) : ts.createSourceFile(name, source, language)
    }
    const program = ts.createProgram([...sources.keys()], options, host)
    const complaints = ts
      .getPreEmitDiagnostics(program)
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
    expect(complaints).toEqual([])
  }, 30_000)

  it('when its commands are read, then they are the two that the package has', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
    expect(blocks('sh')).toEqual(['npm ci && npm run demo\nnpm ci && npm test\n'])
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(['demo', 'test']))
  })

  it('when its events and errors are read, then the package has them', () => {
    const { tokens } = manage()
    for (const name of rowsUnder('Events'))
      expect(tokens.on(name as 'renewed', () => undefined)).toBeInstanceOf(Function)
    const codes = readFileSync('src/core/errors.ts', 'utf8').match(/ERR_\w+/g)
    for (const code of rowsUnder('Errors')) expect(codes).toContain(code)
    expect(rowsUnder('Events').length).toBeGreaterThan(3)
    expect(rowsUnder('Errors').length).toBeGreaterThan(8)
  })
})
