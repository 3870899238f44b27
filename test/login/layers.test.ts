import { expect, describe, it } from '@jest/globals'
import { build, type Plugin } from 'esbuild'
import { join } from 'node:path'

/** The rooms of users with credentials. All others are layers: a bundle without a feature does not contain its layer, which its users pass as a value. */
const OF_NO_LAYER = /^src\/((axios|client|core|fetch|service|wire)\/|[\w-]+\.ts$)/

/** @returns The modules of `src` whose code a user's bundler keeps. */
async function modulesOf(program: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: program, resolveDir: join(process.cwd(), 'src') },
    ...{ bundle: true, minify: true, platform: 'node', format: 'esm', write: false, metafile: true },
    external: ['axios'],
  })
  const [output] = Object.values(metafile.outputs)
  const kept = Object.entries(output!.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0)
  return kept.map(([path]) => path).filter((path) => path.startsWith('src/'))
}

describe('given users with credentials, and no login', () => {
  it.each([
    ['Variant A', "export { attachBearer, clientCredentials, createTokenManager } from './index.ts'"],
    ['fetch', "export { createTokenManager } from './index.ts'\nexport { withBearer } from './fetch/index.ts'"],
    ['a manager alone', "export { createTokenManager } from './index.ts'"],
  ])('when %s is bundled, then no module of a layer is in it', async (_, program) => {
    const modules = await modulesOf(program)
    expect(modules).toContain('src/core/renewal.ts')
    expect(modules.filter((path) => !OF_NO_LAYER.test(path))).toEqual([])
  })

  it('when all features are bundled, then core has no module that only a feature needs', async () => {
    const plain = "export { attachBearer, clientCredentials, createTokenManager } from './index.ts'"
    const features = ['dpop', 'fetch', 'login', 'mcp', 'oauth2', 'postgres', 'redis', 'sqlite', 'store', 'web']
    const entries = ['.', ...features.map((feature) => `./${feature}`)].map(
      (room) => `export * from '${room}/index.ts'`,
    )
    const [least, all] = await Promise.all([modulesOf(plain), modulesOf(entries.join('\n'))])
    const core = (modules: string[]) => modules.filter((path) => path.startsWith('src/core/')).sort()
    expect(core(all)).toEqual(core(least))
  })

  it('when a login is bundled with it, then its layer is in it: the test detects layers', async () => {
    const program = "export { createTokenManager } from './index.ts'\nexport { person } from './login/index.ts'"
    expect(await modulesOf(program)).toContain('src/login/user-logins.ts')
  })
})

describe('given an MCP client', () => {
  it('when its login is bundled, then the methods of managers without users are not in it', async () => {
    const modules = await modulesOf("export { mcpLogin } from './mcp/index.ts'")
    expect(modules).toContain('src/login/user-logins.ts')
    expect(modules).not.toContain('src/core/plain-login.ts')
  })
})

/** What a user's bundler keeps of modules that share one file, as those of `dist` share few: it keeps or drops them by their statements. */
async function keptOfOneFile(program: string, file: string): Promise<string> {
  const contents = await bundledText(file)
  return bundledText(program, {
    name: 'one-file',
    setup(bundler) {
      bundler.onResolve({ filter: /^package$/ }, ({ path }) => ({ path, namespace: 'package' }))
      bundler.onLoad({ filter: /./, namespace: 'package' }, () => ({ contents, resolveDir: process.cwd() }))
    },
  })
}

async function bundledText(contents: string, ...plugins: Plugin[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(process.cwd(), 'src') },
    ...{ bundle: true, platform: 'node', format: 'esm', write: false, plugins },
    external: ['axios'],
  })
  return outputFiles[0]!.text
}

describe('given modules that share one file', () => {
  it.each([
    ['clientCredentials', ['./index.ts'], ['LoginPassword', 'ServiceClock', 'MemoryRecord']],
    ['fromTokenResponse', ['./oauth2/index.ts'], ['OAuth2', 'AuthorizationServer', 'checkedParameters', 'DEAD_CODE']],
    ['dpopKey', ['./dpop/index.ts', './web/index.ts'], ['isRecordState', 'isEnvelope', 'readAdopted']],
  ])('when only %s is bundled, then unused code is dropped', async (name, entries, others) => {
    const file = entries.map((path) => `export * from '${path}'`).join('\n')
    const [all, kept] = await Promise.all(
      ['*', `{ ${name} }`].map((n) => keptOfOneFile(`export ${n} from 'package'`, file)),
    )
    const isIn = (text = '') => others.filter((other) => new RegExp(`\\b${other}\\b`).test(text))
    expect(isIn(all)).toEqual(others)
    expect(isIn(kept)).toEqual([])
  })
})
