// Compares the ratios of a short run with the committed ones: `npm run bench:check`. Never times, because they depend on the machine.
import { alone } from './lib/alone.mjs'
import { committedResults } from './lib/results.mjs'

/** Noise moves a ratio up or down. A change that costs something shows in all runs, so the best run counts. */
const RUNS = 3

const { scenarios } = await committedResults()
const regressions = []
for (const { name, ratios, results } of scenarios) {
  if (!ratios) continue
  const before = ratios(results)
  const best = {}
  for (let tries = 0; tries < RUNS; tries++) {
    for (const [what, { value }] of Object.entries(ratios(await alone(name, { quick: true }))))
      best[what] = Math.min(best[what] ?? Infinity, value)
    if (worse(before, best).length === 0) break
  }
  for (const [what, { value, tolerance }] of Object.entries(before)) {
    const isWorse = worse(before, best).includes(what)
    const line = `${isWorse ? 'FAIL' : 'ok  '}  ${name}: ${what}: ${shown(best[what])}, was ${shown(value)} (at most × ${tolerance})`
    console.log(line)
    if (isWorse) regressions.push(line)
  }
}
console.log(regressions.length === 0 ? '\nNo regression' : `\n${regressions.length} regressed`)
process.exitCode = regressions.length === 0 ? 0 : 1

function worse(before, best) {
  return Object.keys(before).filter((what) => !(best[what] <= before[what].value * before[what].tolerance))
}

function shown(value) {
  return Number.isInteger(value) ? String(value) : value?.toFixed(3)
}
