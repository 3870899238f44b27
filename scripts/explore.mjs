// Tries every order of what can happen to a record that owners share: npm run explore -- [--scope NAME …] [--without RULE] [--small] [--limit SCHEDULES] [--plain]
// Not part of the tests, which explore the small scopes: it takes many minutes. `docs/protocol.md` says what it shows. `--without` takes a rule
// of the protocol out; `--plain` searches without the reduction; `--schedule '["go A1",…]'` prints one course of a scope. The exit code is 0 only if nothing was violated.
import { execFile } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs, promisify } from 'node:util'
import { bundle } from './explore/bundle.mjs'

const { values } = parseArgs({
  options: {
    scope: { type: 'string', multiple: true },
    without: { type: 'string' },
    limit: { type: 'string' },
    schedule: { type: 'string' },
    plain: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const reached = new Set()
const file = await bundle('main', values.without)
try {
  // Most of what a run allocates is gone when it ends.
  const node = (args) =>
    promisify(execFile)(process.execPath, ['--max-semi-space-size=64', file, ...args], { maxBuffer: 2 ** 26 })
  if (values.schedule) {
    const { stdout } = await node(['schedule', values.scope?.[0] ?? '', values.schedule])
    console.log(stdout)
  } else {
    const names = values.scope ?? JSON.parse((await node(['names', values.small ? 'small' : 'large'])).stdout)
    if (!values.json) console.log(row('scope', 'schedules', 'searched', 'states', 'ends', 'violations', 'seconds'))
    const cores = availableParallelism()
    // A process takes longer to start and to warm up than a small scope to search.
    const lots = values.small ? dealt(names, cores) : names.map((name) => [name])
    const explore = async () => {
      for (let lot = lots.shift(); lot; lot = lots.shift()) {
        const { stdout } = await node([values.plain ? 'plain' : 'scope', values.limit ?? 'Infinity', ...lot])
        for (const line of stdout.trim().split('\n')) tell(JSON.parse(line))
      }
    }
    await Promise.all(Array.from({ length: cores }, explore))
    if (values.small && !values.scope && !values.json) tellMissing(JSON.parse((await node(['places'])).stdout))
  }
} finally {
  await rm(file)
}

/** Deals the names in turn, so that neighbours, which take alike long, part. */
function dealt(names, hands) {
  return Array.from({ length: hands }, (_, hand) => names.filter((_, place) => place % hands === hand))
}

function tell(found) {
  if (values.json) return console.log(JSON.stringify(found))
  const { scope, schedules, states, ends, seconds, isCut, violation } = found
  for (const place of found.reached) reached.add(place)
  const searched = violation ? 'failed' : isCut ? 'cut' : 'all'
  console.log(row(scope, schedules, searched, states, ends, violation ? 1 : 0, seconds.toFixed(0)))
  if (!violation) return
  process.exitCode = 1
  console.log(`  ${violation.what}\n  --scope '${scope}' --schedule '${JSON.stringify(violation.schedule)}'`)
}

/** A search that never comes to a rule proves nothing about it. */
function tellMissing(places) {
  const missing = places.filter((place) => !reached.has(place))
  if (missing.length === 0) return console.log(`All of ${places.length} rules, fates and answers were reached`)
  process.exitCode = 1
  console.log(`Never reached: ${missing.join(' · ')}`)
}

function row(scope, ...columns) {
  return scope.padEnd(46) + columns.map((column) => String(column).padStart(11)).join('')
}
