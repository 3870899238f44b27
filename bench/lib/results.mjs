import { existsSync, readFileSync } from 'node:fs'
import { writeFormatted } from './formatted.mjs'
import { loadScenarios } from './scenarios.mjs'

const FILE = new URL('../results.json', import.meta.url)

/** @returns The committed figures: `{ machine, scenarios: { [name]: { seconds, results } } }`; undefined if there are none. */
export function readResults() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : undefined
}

/**
 * @returns All scenarios with their committed results: `{ machine, scenarios: [{ ...scenario, results, seconds }] }`.
 *
 * @throws {Error} if a scenario was not measured, or its results have an older form.
 */
export async function committedResults() {
  const { machine, scenarios } = readResults() ?? { scenarios: {} }
  const all = await loadScenarios()
  const stale = all.filter(({ name, form }) => scenarios[name] === undefined || scenarios[name].form !== form)
  if (stale.length > 0) {
    const names = stale.map(({ name }) => name).join(',')
    throw new Error(`results.json lacks ${names} or has an older form of them: npm run bench -- --only ${names}`)
  }
  return { machine, scenarios: all.map((scenario) => ({ ...scenario, ...scenarios[scenario.name] })) }
}

export function writeResults(results) {
  return writeFormatted(FILE, JSON.stringify(results, undefined, 2))
}
