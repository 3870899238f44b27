// Runs one scenario for the process that started this one: `run.mjs` or `check.mjs`.
import { loadScenarios } from './lib/scenarios.mjs'

const [name, quick] = process.argv.slice(2)
const [{ run }] = await loadScenarios([name])
const results = await run({ quick: quick !== undefined })
// Sockets or timers that a contestant leaves open must not keep this process alive.
process.send(results, () => process.exit())
