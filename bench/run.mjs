// Runs the scenarios one after the other: `npm run bench`, `npm run bench -- --only hot-path,size`, `npm run bench -- --quick`.
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { alone } from './lib/alone.mjs'
import { machine, versions } from './lib/machine.mjs'
import { readResults, writeResults } from './lib/results.mjs'
import { loadScenarios } from './lib/scenarios.mjs'
import { writePage } from './page.mjs'

const { values } = parseArgs({ options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } } })
const { only, quick } = values

const here = { ...machine(), versions: versions() }
console.log(`${here.cpu}, ${here.cores} cores, ${here.memoryGiB} GiB, ${here.platform}, Node ${here.node}`)
for (const [name, version] of Object.entries(here.versions)) console.log(`  ${name} ${version}`)

let results = only && !quick ? readResults() : undefined
// Before the first scenario: some take minutes.
const wanted = await loadScenarios(only?.split(','))
const isElsewhere = results && JSON.stringify(results.machine) !== JSON.stringify(here)
if (isElsewhere && !wanted.every(({ isExact }) => isExact))
  throw new Error('results.json is of another machine, or of other versions: run all scenarios')
const [load] = loadavg()
if (load > here.cores / 4) console.log(`\nThis machine is busy (load ${load.toFixed(1)}): expect noise.`)

for (const { name, title, figureOf, ratios, form } of wanted) {
  console.log(`\n# ${title}\n`)
  const startedAt = performance.now()
  const measured = await alone(name, { quick })
  const scenario = { form, seconds: Math.round((performance.now() - startedAt) / 1_000), results: measured }
  // A quick run leaves out contestants that the figure needs.
  const figures = quick
    ? Object.entries(ratios?.(measured) ?? {}).map(([what, { value }]) => `${what}: ${value}`)
    : figureOf(measured)
  console.log(`${figures.join('\n  ')}\n\n(${scenario.seconds} s)`)
  if (quick) continue
  // Written after each scenario, so that a failure in the last minute does not lose an hour.
  results = { machine: results?.machine ?? here, scenarios: { ...results?.scenarios, [name]: scenario } }
  await writeResults(results)
}

if (quick) console.log('\nA quick run: its figures mean little, and were not written.')
else await writePage()
