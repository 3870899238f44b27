import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import config, { slowTests } from '../../jest.config.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(project, 'coverage', 'mutation')

/** The tests of the rooms and of their neighbours, and those of sharing. No more: a mutant that survives costs a run of all tests that reach it. */
const rooms = {
  core: /./,
  service: /./,
  redis: /^(sharing|outage|garbage|trouble|redis-store)\./,
  postgres: /^(postgres-register|trouble|table|postgres-store)\./,
  sqlite: /^sqlite-store\./,
  store: /./,
  oauth2: /^(answers|refusals|request|options)\./,
  web: /./,
  client: /./,
  fetch: /./,
  dpop: /^(dpop-key|proofs|requests|token-calls)\./,
  axios: /^(attach|replay|redirects|waiting)\./,
}
// MUTATION_TESTS=core,service: the tests of these rooms alone, for a first round over many changes. The survivors then meet all tests.
const chosen = process.env.MUTATION_TESTS?.split(',') ?? Object.keys(rooms)
/** Slow tests that nothing else covers run, too: those of SQLite. */
const isSlow = (room, name) => room !== 'sqlite' && slowTests.includes(`<rootDir>/test/${room}/${name}`)
// A few files import all test files: to load a file takes longer than to run its tests, and each mutant loads all files that
// reach it. Tests with nock, a proxy, changed globals or hooks for their
// whole file stay apart, because they would disturb others.
mkdirSync(folder, { recursive: true })
const groups = new Map()
for (const [room, names] of Object.entries(rooms)) {
  if (!chosen.includes(room)) continue
  for (const name of readdirSync(join(project, 'test', room))) {
    if (!name.endsWith('.test.ts') || !names.test(name) || isSlow(room, name)) continue
    const file = join(project, 'test', room, name)
    const isApart = /'nock'|HTTP_PROXY|defineProperty\(globalThis|^(before|after)(Each|All)\(/m.test(
      readFileSync(file, 'utf8'),
    )
    const group = isApart ? basename(file, '.test.ts') : room
    groups.set(group, `${groups.get(group) ?? ''}import ${JSON.stringify(file)}\n`)
  }
}
for (const [group, imports] of groups) writeFileSync(join(folder, `${group}.test.ts`), imports)
// The setup that looks for redis-server takes as long as most tests, and would run for every mutant.
process.env.TEST_REDIS ??= spawnSync('redis-server', ['--version']).status === 0 ? 'own' : 'none'

export default {
  ...config,
  rootDir: project,
  globalSetup: undefined,
  testMatch: ['<rootDir>/coverage/mutation/*.test.ts'],
  testEnvironment: join(fileURLToPath(new URL('.', import.meta.url)), 'environment.cjs'),
  // A test that hangs fails soon: to end the whole process costs more.
  testTimeout: 4_000,
  testEnvironmentOptions: { globalsCleanup: 'off' },
  coverageThreshold: undefined,
}
