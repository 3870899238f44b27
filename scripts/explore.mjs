// Tries every order of what can happen to a record that owners share: npm run explore -- [--scope NAME …] [--without RULE] [--small] [--limit SCHEDULES] [--seconds N] [--plain]
// Not part of the tests, which explore the small scopes: it takes many minutes. `docs/evidence/protocol.md` has the results. `--without` removes a rule
// of the protocol; `--seconds` limits the search, and the run reports which scopes were cut short; `--plain` searches without the reduction;
// `--schedule '["go A1",…]'` prints one run of a scope. The exit code is 0 only if nothing was violated.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { bundle } from './explore/bundle.mjs'

const { values } = parseArgs({
  options: {
    scope: { type: 'string', multiple: true },
    without: { type: 'string' },
    limit: { type: 'string' },
    seconds: { type: 'string', default: 'Infinity' },
    schedule: { type: 'string' },
    plain: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const endAt = Date.now() + Number(values.seconds) * 1_000
const reached = new Set()
const children = new Set()
/** Scopes that are not searched to their end yet. */
const open = new Set()
const file = await bundle('main', values.without)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => endBy(signal))
try {
  if (values.schedule) await run(['schedule', values.scope?.[0] ?? '', values.schedule], console.log)
  else {
    const names = values.scope ?? (await asked(['names', values.small ? 'small' : 'large']))
    for (const name of names) open.add(name)
    if (!values.json) console.log(row('scope', 'schedules', 'searched', 'states', 'ends', 'violations', 'seconds'))
    const cores = availableParallelism()
    // Starting and warming up a process takes longer than searching a small scope.
    const lots = values.small ? dealt(names, cores) : names.map((name) => [name])
    const explore = async () => {
      for (let lot = lots.shift(); lot; lot = lots.shift()) {
        const how = [values.plain ? 'plain' : 'scope', values.limit ?? 'Infinity', String(endAt)]
        await run([...how, ...lot], (line) => tell(JSON.parse(line)))
      }
    }
    await Promise.all(Array.from({ length: cores }, explore))
    if (open.size > 0) tellOpen()
    else if (values.small && !values.scope && !values.json) tellMissing(await asked(['places']))
  }
} finally {
  rmSync(file, { force: true })
}

/** Prints each line at once, so that an interrupted run has reported what it found. */
async function run(args, onLine) {
  // A large young generation, because most objects of a search are short-lived.
  const options = { stdio: ['ignore', 'pipe', 'inherit'] }
  const child = spawn(process.execPath, ['--max-semi-space-size=64', file, ...args], options)
  children.add(child)
  const closed = once(child, 'close')
  createInterface(child.stdout).on('line', onLine)
  const [code] = await closed
  children.delete(child)
  if (code !== 0) throw new Error(`The explorer ended with ${code}`)
}

async function asked(args) {
  let text = ''
  await run(args, (line) => (text += line))
  return JSON.parse(text)
}

function endBy(signal) {
  for (const child of children) child.kill()
  rmSync(file, { force: true })
  tellOpen()
  process.exit(signal === 'SIGINT' ? 130 : 143)
}

function tellOpen() {
  console.error(`Not searched to the end: ${[...open].join(' · ')}`)
}

/** Deals out the names in turn, so that neighbours, which take similarly long, go to different processes. */
function dealt(names, hands) {
  return Array.from({ length: hands }, (_, hand) => names.filter((_, place) => place % hands === hand))
}

function tell(found) {
  const { scope, schedules, states, ends, seconds, isCut, violation } = found
  if (!isCut || violation) open.delete(scope)
  if (values.json) return console.log(JSON.stringify(found))
  for (const place of found.reached) reached.add(place)
  const searched = violation ? 'failed' : isCut ? 'cut' : 'all'
  console.log(row(scope, schedules, searched, states, ends, violation ? 1 : 0, seconds.toFixed(0)))
  if (!violation) return
  process.exitCode = 1
  console.log(`  ${violation.what}\n  --scope '${scope}' --schedule '${JSON.stringify(violation.schedule)}'`)
}

/** A search that never reaches a rule proves nothing about it. */
function tellMissing(places) {
  const missing = places.filter((place) => !reached.has(place))
  if (missing.length === 0) return console.log(`All of ${places.length} rules, fates and answers were reached`)
  process.exitCode = 1
  console.log(`Never reached: ${missing.join(' · ')}`)
}

function row(scope, ...columns) {
  return scope.padEnd(46) + columns.map((column) => String(column).padStart(11)).join('')
}
