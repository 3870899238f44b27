import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import config from '../../jest.config.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(project, 'coverage', 'mutation')

// The tests of the two rooms in a few files instead of fifty: to load a file takes longer than to run its tests, and each
// change loads what reaches it. Nock and proxies do not go together with anything.
const files = ['core', 'service'].flatMap((room) =>
  readdirSync(join(project, 'test', room))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(project, 'test', room, name)),
)
mkdirSync(folder, { recursive: true })
const groups = new Map()
for (const file of files) {
  const isApart = /'nock'|HTTP_PROXY/.test(readFileSync(file, 'utf8'))
  const kind = isApart ? basename(file, '.test.ts') : file.includes('core') ? 'core' : 'servers'
  groups.set(kind, `${groups.get(kind) ?? ''}import ${JSON.stringify(file)}\n`)
}
for (const [kind, imports] of groups) writeFileSync(join(folder, `${kind}.test.ts`), imports)

export default {
  ...config,
  rootDir: project,
  globalSetup: undefined,
  testMatch: ['<rootDir>/coverage/mutation/*.test.ts'],
  testEnvironment: join(fileURLToPath(new URL('.', import.meta.url)), 'environment.cjs'),
  // A test that hangs fails soon: to end the whole process costs more.
  testTimeout: 2_000,
  testEnvironmentOptions: { globalsCleanup: 'off' },
  coverageThreshold: undefined,
}
