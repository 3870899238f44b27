// Installs tools and libraries that only some commands need. They stand in folders of their own, each with a package.json and a lock file:
// node scripts/lib/installed.mjs <folder> …, or --gate for all that the gate needs. What is installed already takes no time.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const project = fileURLToPath(new URL('../..', import.meta.url))
/** What the types of the code need; what the tests need beside that; what the gate needs beside both. */
const CODE = [
  'examples/mcp',
  'examples/nest',
  'examples/observability',
  'examples/pages',
  'test/browser',
  'test/mcp',
  'test/oauth2/support',
  'test/opentelemetry',
]
const TESTS = [...CODE, 'test/support/jsdom', 'test/sqlite', 'test/loggers', 'test/mocks']
const GATE = [...TESTS, 'scripts/package', 'scripts/site']
const COMPILED = ['test/sqlite']
/** To compile SQLite as it is released takes seven times as long, and no figure of the bench is made with it. */
const QUICKLY = { CFLAGS: '-O0', CXXFLAGS: '-O0' }
const GROUPS = { '--code': CODE, '--tests': TESTS, '--gate': GATE }

for (const folder of process.argv.slice(2).flatMap((name) => GROUPS[name] ?? [name])) install(folder)

function install(folder) {
  const cwd = join(project, folder)
  const stamp = join(cwd, 'node_modules', '.installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(cwd, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return
  console.log(`npm ci in ${folder}`)
  // Without the options of the npm that started this, such as its prefix.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_registry)/i.test(name)),
  )
  if (COMPILED.includes(folder)) Object.assign(env, QUICKLY)
  const options = { cwd, env, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' }
  try {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], options)
  } catch (error) {
    // It is compiled here, and this machine may have no compiler: then its tests say that they are skipped.
    if (!COMPILED.includes(folder) || process.env.CI) throw error
    return
  }
  writeFileSync(stamp, lock)
}
