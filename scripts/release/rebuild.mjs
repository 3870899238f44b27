// @ts-check
// node scripts/release/rebuild.mjs --to FOLDER: packs the files of this commit in a folder of their own, in which nothing is installed but what the build needs: no test tool, no script of a
// package. A release compares its SHA-256 with what the first job has packed. All arguments except `--to` are passed on to pack.mjs.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `npm run build` runs, and whose types it reads. */
const BUILD = ['@opentelemetry/api', '@types/node', 'axios', 'rolldown', 'rollup', 'rollup-plugin-dts', 'typescript']

const project = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'axios-evergreen-rebuild-'))
const run = (/** @type {string} */ command, /** @type {string[]} */ args, cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const read = (/** @type {string} */ name) => JSON.parse(readFileSync(join(project, name), 'utf8'))
const write = (/** @type {string} */ name, /** @type {unknown} */ value) =>
  writeFileSync(join(folder, name), JSON.stringify(value))

try {
  const files = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], project).split('\0')
  for (const file of files.filter((name) => name !== '' && existsSync(join(project, name))))
    cpSync(join(project, file), join(folder, file))
  const manifest = read('package.json')
  const lock = read('package-lock.json')
  const devDependencies = Object.fromEntries(BUILD.map((name) => [name, manifest.devDependencies[name]]))
  write('package.json', { ...manifest, devDependencies })
  write('package-lock.json', { ...lock, packages: needed(lock.packages, devDependencies) })
  run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'])
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(project, name), join(folder, name)) // they are packed
  const given = process.argv.slice(2)
  const to = given.indexOf('--to') + 1
  if (to > 0) given[to] = resolve(given[to] ?? '')
  console.log(run('node', ['scripts/package/pack.mjs', ...given]).trim())
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/**
 * @param {Record<string, any>} packages All that the lock file names.
 * @param {Record<string, string>} devDependencies
 * @returns {Record<string, any>} The project, and what it reaches from there.
 */
function needed(packages, devDependencies) {
  const found = new Map([['', { ...packages[''], devDependencies }]])
  for (const [from, one] of found) {
    const { dependencies, optionalDependencies, peerDependencies } = one
    const names = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(from === '' && devDependencies) }
    for (const place of Object.keys(names).map((name) => placeOf(packages, name, from)))
      if (place !== undefined && !found.has(place)) found.set(place, packages[place])
  }
  return Object.fromEntries(found)
}

/**
 * @param {Record<string, any>} packages
 * @param {string} name
 * @param {string} from
 * @returns {string | undefined} The place of the package that `from` imports by this name: inside it, or in a folder above.
 */
function placeOf(packages, name, from) {
  const place = join(from, 'node_modules', name)
  if (place in packages) return place
  if (from === '') return undefined
  const above = dirname(from.slice(0, from.lastIndexOf('node_modules/') + 1))
  return placeOf(packages, name, above === '.' ? '' : above)
}
