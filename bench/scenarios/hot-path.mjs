import { AGAIN, EVERGREEN, FLOOR, others, REFERENCE } from '../lib/contestants.mjs'
import { inFreshProcess } from '../lib/fresh-process.mjs'
import { compareAdded, compared, compareQuiet } from '../lib/rounds.mjs'
import { range, ratio } from '../lib/table.mjs'

export const name = 'hot-path'
export const title = 'Hot path: a request with a fresh token'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 5

const SETTING = new URL('../lib/hot-path/setting.mjs', import.meta.url)
const OWN_CODE = new URL('../lib/hot-path/own-code.mjs', import.meta.url)
/** The adapters and their names. */
const SETTINGS = { inProcess: 'in process', http: 'http adapter', fetch: 'fetch adapter' }

export async function run({ quick }) {
  const settings = {}
  for (const setting of Object.keys(SETTINGS)) settings[setting] = await measured(setting, quick)
  return { settings, ownCode: await ownCode(quick) }
}

/** Measures in several processes, one after the other, because the compiler treats the same code differently in each. */
async function measured(setting, quick) {
  const [processes, ...args] = quick ? [1, setting, 40, 'quick'] : [3, setting, 40]
  const taken = []
  for (let n = 0; n < processes; n++) taken.push(await inFreshProcess(SETTING, args))
  const all = (what) => taken.flatMap((one) => one[what])
  const runs = taken.map(({ time }) => time)
  return {
    time: compared(all('time'), 'us', REFERENCE),
    quiet: compareQuiet(runs, 'us', REFERENCE),
    memory: compared(all('memory'), 'bytes', REFERENCE),
  }
}

/** @returns What each contestant adds to the reference, ns, and as a multiple of what the floor adds. */
async function ownCode(quick) {
  const runs = []
  for (let n = 0; n < (quick ? 1 : 3); n++) runs.push(await inFreshProcess(OWN_CODE, [quick ? 6 : 12]))
  return compareAdded(runs, 'ns', REFERENCE, FLOOR)
}

export function ratios({ settings, ownCode }) {
  const held = { 'own code, × the floor': { value: ownCode[EVERGREEN].median, tolerance: 1.1 } }
  for (const [setting, heading] of Object.entries(SETTINGS)) {
    const { quiet, memory } = settings[setting]
    held[`processor time, ${heading}`] = { value: quiet[EVERGREEN].median, tolerance: 1.03 }
    held[`bytes, ${heading}`] = { value: memory[EVERGREEN].ratio.median, tolerance: 1.02 }
  }
  return held
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ settings: { http } }) {
  const [least, most] = range(others.map((each) => http.quiet[each].median))
  return [
    'CPU time of a request with a fresh token (http adapter), relative to a constant header',
    ratio(http.quiet[EVERGREEN]),
    `others ${least.toFixed(3)} to ${most.toFixed(3)}; noise (A/A) ${ratio(http.quiet[AGAIN])}`,
  ]
}
