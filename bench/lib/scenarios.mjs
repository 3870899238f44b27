import { existsSync } from 'node:fs'

const NAMES = ['hot-path', 'stampede', 'rotation', 'scorecard', 'outage', 'growth', 'fleet', 'size']

/** The scenarios of these names, in the order of the page; all of them without `only`. */
export async function loadScenarios(only = NAMES) {
  const unknown = only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`There is no scenario ${unknown.join(', ')}. There are: ${NAMES.join(', ')}`)
  const scenarios = []
  for (const name of NAMES.filter((each) => only.includes(each))) {
    const file = new URL(`../scenarios/${name}.mjs`, import.meta.url)
    if (existsSync(file)) scenarios.push(await import(file.href))
    else console.log(`${name}: there is no such scenario yet`)
  }
  return scenarios
}
