/** Each block of docs/your-tests.md, run as its reader would run it. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type BuiltPackage, buildPackage } from '../support/built-package.ts'
import { fences } from '../support/document-code.ts'

const blocks = new Map(
  fences('javascript', readFileSync('docs/your-tests.md', 'utf8')).map((code) => [/^\/\/ (\S+)/.exec(code)![1]!, code]),
)
const JEST = [resolve('node_modules/jest/bin/jest.js'), '--config', 'jest.config.json']
const VITEST = [resolve('node_modules/vitest/vitest.mjs'), 'run', '--globals=false']
/** swc compiles the reader's code to CommonJS, as babel-jest and ts-jest do. */
const SWC = { '\\.js$': [resolve('node_modules/@swc/jest'), { module: { type: 'commonjs' } }] }

let built: BuiltPackage
let dir: string

/** Runs one test file with its runner, without environment variables of a service. @param isModule Whether jest runs it as an ES module. */
function run(
  name: string,
  code: string,
  isModule = code.includes('@jest/globals'),
): Promise<{ code: number; printed: string }> {
  const runner = code.includes("from 'vitest'") ? VITEST : isModule ? ['--experimental-vm-modules', ...JEST] : JEST
  const transform = isModule ? {} : SWC
  const config = { testEnvironment: 'node', transform, setupFiles: ['./setup.js'], watchman: false }
  writeFileSync(join(dir, name), code)
  writeFileSync(join(dir, 'jest.config.json'), JSON.stringify(config))
  const { CLIENT_ID, CLIENT_SECRET, NODE_ENV, NODE_OPTIONS, FORCE_COLOR, ...env } = process.env
  return new Promise((settle) =>
    execFile(
      process.execPath,
      [...runner, name],
      { cwd: dir, env: { ...env, NO_COLOR: '1' } },
      (error, stdout, stderr) => settle({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
    ),
  )
}

beforeAll(async () => {
  built = await buildPackage()
  dir = mkdtempSync(join(tmpdir(), 'evergreen-tests-'))
  mkdirSync(join(dir, 'node_modules/@jest'), { recursive: true })
  const installed = {
    'axios-evergreen': join(built.dir, 'node_modules/axios-evergreen'),
    ...{
      axios: 'node_modules/axios',
      nock: 'node_modules/nock',
      vitest: 'node_modules/vitest',
      '@jest/globals': 'node_modules/@jest/globals',
    },
    ...Object.fromEntries(['axios-mock-adapter', 'msw'].map((one) => [one, `test/node_modules/${one}`])),
  }
  for (const [name, folder] of Object.entries(installed))
    symlinkSync(resolve(folder), join(dir, 'node_modules', name), 'junction')
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }')
  writeFileSync(join(dir, 'vitest.config.js'), "export default { test: { setupFiles: ['./setup.js'] } }")
  for (const name of ['wallet.js', 'setup.js']) writeFileSync(join(dir, name), blocks.get(name)!)
})
afterAll(async () => {
  rmSync(dir, { recursive: true })
  await built.remove()
})

const tests = [...blocks].filter(([name]) => name.endsWith('.test.js'))

describe('F314: given docs/your-tests.md', () => {
  it.each(tests)('when %s is run, then it passes', async (name, code) => {
    const { code: exit, printed } = await run(name, code)
    expect({ exit, printed }).toEqual({ exit: 0, printed: expect.stringMatching(/\b1 passed/) })
  })

  it.each(['nock.test.js', 'mock-adapter.test.js'])(
    'when %s is compiled to CommonJS, then it passes, too',
    async (name) => {
      const { code, printed } = await run(name, blocks.get(name)!, false)
      expect({ code, printed }).toEqual({ code: 0, printed: expect.stringMatching(/\b1 passed/) })
    },
  )

  it('when its tests are counted, then there are six', () => expect(tests).toHaveLength(6))

  const MOCKS = /^jest\.mock\('axios-evergreen.*\n/gm

  it('when only axios is mocked, by a factory, then the error at the import says what to mock', async () => {
    const { code, printed } = await run('red.test.js', blocks.get('commonjs.test.js')!.replace(MOCKS, ''))
    expect([code, printed]).toEqual([1, expect.stringContaining('mock axios-evergreen, too')])
  })

  it.each(['undefined', '{ get() {} }', '{ interceptors: {} }', '{ interceptors: { request: { use() {} } } }'])(
    'when the instance is a mock, %s, then attachBearer says so',
    async (instance) => {
      const { code, printed } = await run(
        'red.test.js',
        `import { attachBearer, createTokenManager } from 'axios-evergreen'
         test('an attachment', () => attachBearer(${instance}, createTokenManager({ source: { id: 'a', obtain() {} } })))`,
      )
      const message =
        'instance, the first argument, must be an axios instance: if a test mocks axios, mock axios-evergreen, too'
      expect([code, printed]).toEqual([1, expect.stringContaining(message)])
    },
  )

  it.each([
    ["clientCredentials({ baseUrl: 'https://payments.example.com/api', clientId: 'a', clientSecret: 'b' })"],
    ["oauth2({ tokenEndpoint: 'https://id.example.com/token', clientId: 'a', clientSecret: 'b' })"],
  ])('when axios is mocked as a whole, then the token request of %s says so', async (source) => {
    const { code, printed } = await run(
      'red.test.js',
      `import { clientCredentials, createTokenManager } from 'axios-evergreen'
       import { oauth2 } from 'axios-evergreen/oauth2'
       jest.mock('axios')
       test('a token request', () => createTokenManager({ source: ${source} }).getAccessToken())`,
    )
    expect([code, printed]).toEqual([
      1,
      expect.stringContaining('axios is a mock: if a test mocks axios, mock axios-evergreen, too'),
    ])
  })
})
