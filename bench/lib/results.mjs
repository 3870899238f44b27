import { existsSync, readFileSync } from 'node:fs'
import { writeFormatted } from '../../scripts/lib/pages.mjs'
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

/** Six digits of each figure, and on one line what fits there: a diff then shows what changed. */
export function writeResults(results) {
  const shorter = (_, value) => (typeof value === 'number' ? Number(value.toPrecision(6)) : value)
  return writeFormatted('bench/results.json', JSON.stringify(results, shorter))
}
