// npm run test:foreign: checks libraries that people put on their axios instances, from the registry, with the attachment before and after them.
// Not part of the gate, which downloads nothing but its tools. Some only: -- --only nock,msw. To write the table of docs/works-with.md: -- --write.
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { format, resolveConfig } from 'prettier'
import { pageWith } from './foreign/lib/page.mjs'
import { nodeOfRegistry } from './lib/node-sqlite.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const folder = join(project, 'scripts', 'foreign')
const pageFile = join(project, 'docs', 'works-with.md')

// Without proxies: the programs talk only to this machine, or to mocks.
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)))

/** Majors that need a newer Node than 20, of libraries whose older major is checked, too. */
const NEWER = 'newer'

/** Clients without axios: an example with packages of its own. */
const RECIPES = 'recipes'

const { only, write } = options()
const names = only ?? [...programs(), ...programs(NEWER), RECIPES]
installPackage()
const newerNode = names.some(isNewer) ? installNewer() : undefined
const results = []
for (const name of names) results.push(await run(name))

const bad = results.filter(({ failed, why }) => failed > 0 || why)
for (const { name, passed, failed, why } of results)
  console.log(`${name.padEnd(26)}${String(passed).padStart(3)} passed, ${failed} failed${why ? `: ${why}` : ''}`)
const page = only ? 'as it should be' : await checkedPage()
if (page !== 'as it should be') console.log(`\ndocs/works-with.md ${page}`)
const sum = (what) => results.reduce((total, one) => total + one[what], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed') + results.filter(({ why }) => why).length} failed`)
process.exitCode = bad.length === 0 && (page === 'as it should be' || page === 'was written') ? 0 : 1

/** Copies the built package beside the libraries, so that all share one axios, as in a project of a user. */
function installPackage() {
  const target = join(folder, 'node_modules', 'axios-evergreen')
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target)
  for (const name of ['package.json', 'dist']) cpSync(join(project, name), join(target, name), { recursive: true })
}

/** Installs the newer majors, on a Node that they take. @returns that Node */
function installNewer() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const node = major > 22 || (major === 22 && minor >= 20) ? process.execPath : nodeOfRegistry(24)
  if (node === undefined) throw new Error('npm could not get Node 24')
  const PATH = `${dirname(node)}${delimiter}${process.env.PATH}`
  const args = [join(project, 'scripts', 'lib', 'installed.mjs'), `scripts/foreign/${NEWER}`]
  execFileSync(node, args, { env: { ...process.env, PATH }, stdio: 'inherit' })
  return node
}

function programs(inside = '') {
  return readdirSync(join(folder, inside)).flatMap((name) =>
    name.endsWith('.mjs') ? [join(inside, name.slice(0, -4))] : [],
  )
}

function isNewer(name) {
  return dirname(name) === NEWER
}

/** Runs one program in a process of its own: some replace globals of their process. @returns `{ name, passed, failed, why }` */
async function run(name) {
  const args = name === RECIPES ? [join(project, 'scripts', 'example.mjs'), name] : [join(folder, `${name}.mjs`)]
  const child = spawn(isNewer(name) ? newerNode : process.execPath, args, { env, timeout: 300_000 })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk
      process.stdout.write(chunk)
    })
  const [code, signal] = await new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  const counts = /^(\d+) passed, (\d+) failed$/m.exec(said)
  const [passed, failed] = counts ? counts.slice(1).map(Number) : [0, 0]
  const isClear = counts && !signal && (code === 0) === (failed === 0) && passed + failed > 0
  return { name, passed, failed, why: isClear ? undefined : `ended with ${signal ?? code}` }
}

async function checkedPage() {
  const found = readFileSync(pageFile, 'utf8')
  const text = await format(pageWith(found, programs(), folder), {
    ...(await resolveConfig(pageFile)),
    filepath: pageFile,
  })
  if (text === found) return 'as it should be'
  if (!write) return 'has an old table: npm run test:foreign -- --write'
  if (bad.length > 0) return 'was not written: something failed'
  writeFileSync(pageFile, text)
  return 'was written'
}

function options() {
  const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
  const only = values.only?.split(',')
  const known = [...programs(), ...programs(NEWER), RECIPES]
  const unknown = only?.filter((name) => !known.includes(name)) ?? []
  if (unknown.length > 0) throw new RangeError(`--only takes ${known.join()}: got ${unknown}`)
  return { only, write: values.write }
}
