const NAMES = ['hot-path', 'stampede', 'rotation', 'scorecard', 'outage', 'growth', 'fleet', 'renewal', 'size', 'start']

/** @returns The scenarios of these names, in the order of the page; all scenarios without `only`. */
export async function loadScenarios(only = NAMES) {
  const unknown = only.filter((name) => !NAMES.includes(name))
  if (unknown.length > 0) throw new Error(`There is no scenario ${unknown.join(', ')}. There are: ${NAMES.join(', ')}`)
  const wanted = NAMES.filter((name) => only.includes(name))
  return Promise.all(wanted.map((name) => import(new URL(`../scenarios/${name}.mjs`, import.meta.url).href)))
}
