import { readFileSync } from 'node:fs'
import { AGAIN, EVERGREEN, renewing } from '../lib/contestants.mjs'
import { inFreshProcess } from '../lib/fresh-process.mjs'
import { interleaved, spread } from '../lib/rounds.mjs'
import { figure, range, ratio } from '../lib/table.mjs'

export const name = 'start'
export const title = 'Start: what its import takes'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 1

const CHILD = new URL('../lib/start/child.mjs', import.meta.url)

export async function run({ quick }) {
  const modules = { [EVERGREEN]: new URL('../../dist/index.js', import.meta.url).href, ...installedOthers(quick) }
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
function installedOthers(quick) {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const installed = renewing.map((each) => each.name).filter((each) => each in dependencies)
  return quick ? {} : Object.fromEntries(installed.map((each) => [each, import.meta.resolve(each)]))
}

export function ratios({ imports }) {
  return { 'import, as a part of that of axios': { value: imports[EVERGREEN].ofAxios.median, tolerance: 1.2 } }
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ imports }) {
  const { [EVERGREEN]: ours, [AGAIN]: again, ...all } = imports
  const ms = range(Object.values(all).map((each) => each.ms.median)).map((one) => figure(one, 1))
  return [
    'import time (ESM) in ms, in addition to axios',
    ratio(ours.ms, 1),
    `others ${ms.join(' to ')}; noise (A/A) ${ratio(again.ms, 1)}`,
  ]
}
