import { readFileSync } from 'node:fs'
import { AGAIN, EVERGREEN, renewing, shownName } from '../lib/contestants.mjs'
import { inFreshProcess } from '../lib/fresh-process.mjs'
import { interleaved, spread } from '../lib/rounds.mjs'
import { figure, ratio, table } from '../lib/table.mjs'

export const name = 'start'
export const title = 'Start: what its import takes'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 1

const CHILD = new URL('../lib/start/child.mjs', import.meta.url)

export async function run({ quick }) {
  const modules = { [EVERGREEN]: new URL('../../dist/index.js', import.meta.url).href, ...others(quick) }
  modules[AGAIN] = modules[EVERGREEN]
  const rounds = quick ? 15 : 41
  const taken = await interleaved({
    rounds,
    contestants: Object.keys(modules),
    // Without flags, as in the process of a user.
    measure: (each) => inFreshProcess(CHILD, [modules[each]], []),
  })
  const figures = (each) => ({
    ms: spread(taken.map((round) => round[each].beyond)),
    ofAxios: spread(taken.map((round) => round[each].beyond / round[each].axios)),
  })
  return { rounds, imports: Object.fromEntries(Object.keys(modules).map((each) => [each, figures(each)])) }
}

/** The other contestants that can be installed; a quick run leaves them out. */
function others(quick) {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const installed = renewing.map((each) => each.name).filter((each) => each in dependencies)
  return quick ? {} : Object.fromEntries(installed.map((each) => [each, import.meta.resolve(each)]))
}

export function ratios({ imports }) {
  return { 'import, as a part of that of axios': { value: imports[EVERGREEN].ofAxios.median, tolerance: 1.2 } }
}

export function section({ rounds, imports }) {
  const rows = Object.entries(imports).map(([each, { ms, ofAxios }]) => [
    shownName(each),
    ratio(ms, 1),
    ratio(ofAxios, 2),
  ])
  return `ESM, in ${figure(rounds)} fresh processes for each, in turn. axios is imported before. The second column is the part of the import of axios in the
same process. A/A imports axios-evergreen again.

${table(['package', '>ms beyond axios', '>part of axios'], rows)}`
}
