import { existsSync, readFileSync } from 'node:fs'
import { writeFormatted } from './formatted.mjs'

const FILE = new URL('../results.json', import.meta.url)

/** The figures that are committed: `{ machine, scenarios: { [name]: { seconds, results } } }`, if there are any. */
export function readResults() {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : undefined
}

export function writeResults(results) {
  return writeFormatted(FILE, JSON.stringify(results, undefined, 2))
}
