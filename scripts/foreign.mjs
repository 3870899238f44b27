// npm run test:foreign: checks libraries that users add to their axios instances, from the registry, with the attachment before and after them.
// Not part of the gate, which downloads nothing but its tools. Some only: -- --only nock,msw. To write the table of docs/works-with.md: -- --write.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { isNewer, tableOf } from './foreign/lib/page.mjs'
import { copyPackage, withoutProxies } from './lib/built.mjs'
import { syncTable } from './lib/pages.mjs'

const project = fileURLToPath(new URL('..', import.meta.url))
const folder = join(project, 'scripts', 'foreign')
/** Clients without axios: an example with packages of its own. */
const RECIPES = 'recipes'
const programs = readdirSync(folder).flatMap((name) => (name.endsWith('.mjs') ? [name.slice(0, -4)] : []))

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
const all = [...programs, RECIPES]
const names = values.only?.split(',') ?? all
const unknown = names.filter((name) => !all.includes(name))
if (unknown.length > 0) throw new RangeError(`--only takes ${all.join()}: got ${unknown}`)

copyPackage(folder)
const results = []
for (const name of names) {
  // npm has left it out: this Node is too old for it.
  const isLeftOut = isNewer(name) && !existsSync(join(folder, 'node_modules', name))
  results.push(isLeftOut ? { name, passed: 0, failed: 0, note: 'needs a newer Node' } : await run(name))
}
for (const { name, passed, failed, note } of results)
  console.log(`${name.padEnd(26)}${String(passed).padStart(3)} passed, ${failed} failed${note ? `: ${note}` : ''}`)
const sum = (what) => results.reduce((total, one) => total + one[what], 0)
let isGood = sum('failed') === 0
if (isGood && !values.only) {
  const table = tableOf(programs, JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')))
  const state = await syncTable('docs/works-with.md', 'npm run test:foreign', table, values.write)
  console.log(`\nThe table of docs/works-with.md is ${state}${state === 'outdated' ? ': run with -- --write' : ''}.`)
  isGood = state !== 'outdated'
}
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exitCode = isGood ? 0 : 1

/** Runs a program in a process of its own: some replace globals of their process. */
async function run(name) {
  const args = name === RECIPES ? [join(project, 'scripts', 'example.mjs'), name] : [join(folder, `${name}.mjs`)]
  const child = spawn(process.execPath, args, { env: withoutProxies(), timeout: 300_000 })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += chunk
      process.stdout.write(chunk)
    })
  const [code, signal] = await new Promise((resolve) => child.once('close', (...how) => resolve(how)))
  const [, passed = 0, failed = 0] = /^(\d+) passed, (\d+) failed$/m.exec(said)?.map(Number) ?? []
  const isClear = passed + failed > 0 && !signal && (code === 0) === (failed === 0)
  return isClear ? { name, passed, failed } : { name, passed, failed: failed + 1, note: `ended with ${signal ?? code}` }
}
