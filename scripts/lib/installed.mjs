// Installs packages that only some commands need. They have folders of their own, each with a package.json:
// node scripts/lib/installed.mjs <folder> …, or --gate for all that the gate needs. Packages that are installed already take no time.
// Each has a lock file, except scripts/angular: its 500 packages are only compiled, and users get new patches of them, too.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const project = fileURLToPath(new URL('../..', import.meta.url))
/** What the types of the code need; what the tests need in addition; what the gate needs in addition to both. */
const CODE = ['examples/mcp', 'examples/migrating', 'examples/nest', 'examples/observability', 'examples/pages', 'test']
const TESTS = [...CODE, 'test/sqlite']
const GATE = [...TESTS, 'scripts/package', 'scripts/site']
const COMPILED = ['test/sqlite']
/** An optimized build of SQLite takes seven times as long, and no figure of the bench depends on it. */
const QUICKLY = { CFLAGS: '-O0', CXXFLAGS: '-O0' }
const GROUPS = { '--code': CODE, '--tests': TESTS, '--gate': GATE }

/** Installing mostly means waiting for the registry and the disk. */
const AT_ONCE = 4

const folders = process.argv.slice(2).flatMap((name) => GROUPS[name] ?? [name])
// Packages that are compiled take longest.
const queue = folders.sort((one, other) => Number(COMPILED.includes(other)) - Number(COMPILED.includes(one)))
await Promise.all(Array.from({ length: AT_ONCE }, installNext))

async function installNext() {
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) await install(folder)
}

async function install(folder) {
  const cwd = join(project, folder)
  const stamp = join(cwd, 'node_modules', '.installed')
  const lock = join(cwd, 'package-lock.json')
  const isLocked = existsSync(lock)
  const digest = createHash('sha256')
    .update(readFileSync(isLocked ? lock : join(cwd, 'package.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return
  const command = isLocked ? 'ci' : 'install'
  console.log(`npm ${command} in ${folder}`)
  // Without the options of the npm that started this, such as its prefix.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?!config_registry)/i.test(name)),
  )
  if (COMPILED.includes(folder)) Object.assign(env, QUICKLY)
  const options = { cwd, env, shell: process.platform === 'win32', maxBuffer: Infinity }
  try {
    await promisify(execFile)('npm', [command, '--no-audit', '--no-fund'], options)
  } catch (error) {
    // It is compiled here, and this machine may have no compiler: then its tests report that they are skipped.
    if (!COMPILED.includes(folder) || process.env.CI) throw error
    return
  }
  writeFileSync(stamp, digest)
}
