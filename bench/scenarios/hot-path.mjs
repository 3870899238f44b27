import { AGAIN, contestants, EVERGREEN, FLOOR, REFERENCE, shownName } from '../lib/contestants.mjs'
import { Plot } from '../lib/chart.mjs'
import { FAINT, OTHER, PACKAGE } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { inFreshProcess } from '../lib/fresh-process.mjs'
import { answeringAtOnce, BASE_URL } from '../lib/in-process-api.mjs'
import { compareAdded, compared, compareQuiet, median } from '../lib/rounds.mjs'
import { figure, ratio, reach, reachRatio, table } from '../lib/table.mjs'

export const name = 'hot-path'
export const title = 'Hot path: a request with a fresh token'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 4

const SETTING = new URL('../lib/hot-path/setting.mjs', import.meta.url)
const OWN_CODE = new URL('../lib/hot-path/own-code.mjs', import.meta.url)
/** The name of each adapter on the page, and the most time and bytes of a request, as multiples of the reference. */
const SETTINGS = {
  inProcess: { heading: 'in process', time: 1.05 },
  http: { heading: 'http adapter', time: 1.06, bytes: 1.015 },
  fetch: { heading: 'fetch adapter', time: 1.06, bytes: 1.015 },
}
/** The most processor time of own code, as a multiple of that of the floor. */
const MOST_TIMES_FLOOR = 1.5
const LIFETIME_MS = 3_600_000
/** A request may keep at most this. If each of a million requests keeps one byte, the heap grows by a megabyte. */
const MOST_BYTES_KEPT = 1

export async function run({ quick }) {
  const settings = {}
  for (const setting of Object.keys(SETTINGS)) settings[setting] = await measured(setting, quick)
  return { settings, ownCode: await ownCode(quick), growth: await growth(quick ? 100_000 : 1_000_000) }
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

/** @returns The heap after each tenth of the requests. The first tenth is a warm-up. */
async function growth(requests) {
  const obtain = async () => ({ accessToken: 'a-token-that-looks-like-one', lifetimeMs: LIFETIME_MS })
  const context = { instance: answeringAtOnce(), baseUrl: BASE_URL, obtain, lifetimeMs: LIFETIME_MS }
  const { get, close } = await contestants[EVERGREEN].create(context)
  const heapBytes = []
  for (let tenth = 0; tenth < 10; tenth++) {
    for (let n = 0; n < requests / 10; n++) await get('/wallet')
    globalThis.gc()
    heapBytes.push(process.memoryUsage().heapUsed)
  }
  await close()
  const grownBytes = median(heapBytes.slice(-3)) - median(heapBytes.slice(1, 4))
  return { requests, heapBytes, grownBytes }
}

export function ratios({ settings, ownCode }) {
  const held = { 'own code, × the floor': { value: ownCode[EVERGREEN].median, tolerance: 1.1 } }
  for (const [setting, { heading }] of Object.entries(SETTINGS)) {
    const { quiet, memory } = settings[setting]
    held[`processor time, ${heading}`] = { value: quiet[EVERGREEN].median, tolerance: 1.03 }
    held[`bytes, ${heading}`] = { value: memory[EVERGREEN].ratio.median, tolerance: 1.02 }
  }
  return held
}

export function section({ settings, ownCode, growth }) {
  const headings = Object.values(SETTINGS).map(({ heading }) => heading)
  const flat = growth.grownBytes / growth.requests < MOST_BYTES_KEPT
  return `Processor time and memory of a request that finds a fresh token. The reference is a synchronous interceptor that sets a constant
header. Three contestants have a transport of their own: here an interceptor asks them for their token. The floor is written by hand for this page: the
least code that does on each request what axios-evergreen does, and renews and replays.

- In process: an adapter that answers at once. Its answer has a \`request\`, as that of every real adapter.
- http adapter: that of axios, on a connection in memory that answers one turn of the event loop later. A real network varies more
  between rounds than the contestants vary between each other.
- fetch adapter: that of axios. A function replaces \`fetch\`, and answers with a \`Response\` without a body. Reading a body
  takes long for all of them, and would hide part of the differences.

### Processor time

In laps that nobody disturbed: the tenth quantile of the laps of a contestant (25 requests each) over that of the laps of the reference. The figure is the median of
three processes; the brackets hold the least and the greatest. These figures decide, because what else the machine does makes a lap longer and never shorter.

${quietTable(headings, settings)}

In all laps, for comparison:

${settingsTable('µs', headings, settings, ({ time }) => time, 1)}

### Own code

Processor time of what each runs on a request beyond the reference, without the code of axios: its interceptor is called with a config as axios makes it, and
then the adapter that it has put in place. Quiet laps of 400 requests, as above.

${ownCodeTable(ownCode)}

${reachedFloor(ownCode)}

### Memory

${settingsTable('bytes', headings, settings, ({ memory }) => memory, 0)}

${Object.entries(SETTINGS)
  .flatMap(([setting, most]) => reached(settings[setting], most))
  .join('\n\n')}

${reach(flat, `no heap growth over ${figure(growth.requests)} requests: ${figure(growth.grownBytes / 1_024, 1)} KiB.`)}

${WHAT_IT_DOES}`
}

function quietTable(headings, settings) {
  const all = Object.keys(SETTINGS).map((setting) => settings[setting].quiet)
  const rows = Object.keys(all[0]).map((each) => [shownName(each), ...all.map((figures) => ratio(figures[each]))])
  return table(['contestant', ...headings.map((heading) => `>${heading}, quiet`)], rows)
}

function ownCodeTable(ownCode) {
  const rows = Object.entries(ownCode)
    .filter(([each]) => each !== REFERENCE)
    .map(([each, added]) => [shownName(each), figure(added.value), ratio(added, 2)])
  return table(['contestant', '>ns', '>× the floor'], rows)
}

function reachedFloor({ [EVERGREEN]: { median: ours }, [AGAIN]: again }) {
  const isQuiet = [again.low, again.high].every((noise) => Math.abs(noise) <= (MOST_TIMES_FLOOR - 1) / 4)
  const verdict = isQuiet ? ours <= MOST_TIMES_FLOOR : undefined
  return reach(
    verdict,
    `own code takes at most ${MOST_TIMES_FLOOR} × the processor time of the floor: ${ours.toFixed(2)} ×.`,
  )
}

function settingsTable(unit, headings, settings, figuresOf, digits) {
  const all = Object.keys(SETTINGS).map((setting) => figuresOf(settings[setting]))
  const columns = headings.flatMap((heading) => [`>${heading}, ${unit}`, '>ratio'])
  const rows = Object.keys(all[0]).map((each) => [
    shownName(each),
    ...all.flatMap((figures) => [figure(figures[each].median, digits), ratio(figures[each].ratio)]),
  ])
  return table(['contestant', ...columns], rows)
}

function reached({ quiet, memory }, { heading, ...most }) {
  const bytes = { [EVERGREEN]: memory[EVERGREEN].ratio, [AGAIN]: memory[AGAIN].ratio }
  const line = (what, limit, figures) =>
    reachRatio(
      { value: figures[EVERGREEN].median, again: figures[AGAIN], limit },
      `the ${what} of the reference, ${heading}`,
    )
  const lines = [line('quiet processor time', most.time, quiet)]
  return most.bytes === undefined ? lines : [...lines, line('bytes', most.bytes, bytes)]
}

const WHAT_IT_DOES = `What axios-evergreen does beyond the reference, on each request:

- It looks up the token, and compares the origin of the request with the allowed origins.
- It sets the header below all interceptors. After the answer it removes the header, and makes the request in the answer print without it.
- It watches redirects, so that no token follows one to another origin.
- It awaits the answer, to see whether the API refuses the token.`

export function charts(results) {
  const { settings } = results
  const headings = Object.fromEntries(Object.entries(SETTINGS).map(([setting, { heading }]) => [setting, heading]))
  const data = Object.entries(headings).flatMap(([setting, heading]) =>
    Object.entries(settings[setting].quiet).map(([who, ratio]) => ({ who, heading, ...ratio })),
  )
  const noise = data.filter(({ who }) => who === AGAIN)
  const color = ({ who }) => (who === EVERGREEN ? PACKAGE : OTHER)
  return {
    'bench-hot-path.svg': {
      title: findings.hotPath(results, headings),
      subtitle:
        'Quiet processor time, as a multiple of that of an interceptor with a constant header: median and extent of three processes',
      caption: `Processor time of one request that finds a fresh token, with three adapters of axios. The dashed line is an interceptor that sets a constant header. Dots are the medians of three processes, lines reach from the least to the greatest. The shaded band is the reference measured a second time: what lies within is noise.`,
      width: 760,
      marginLeft: 205,
      height: 330,
      x: { label: '× constant interceptor', ticks: 4, grid: true, inset: 6 },
      y: { label: null, tickSize: 0 },
      fx: { label: null, domain: Object.values(headings), padding: 0.06 },
      marks: [
        Plot.rectX(noise, { fx: 'heading', x1: 'low', x2: 'high', fill: FAINT, fillOpacity: 0.5 }),
        Plot.ruleX([1], { stroke: 'currentColor', strokeDasharray: '3,3' }),
        Plot.ruleY(data, { y: 'who', fx: 'heading', x1: 'low', x2: 'high', stroke: color, strokeWidth: 3 }),
        Plot.dot(data, { y: 'who', fx: 'heading', x: 'median', fill: color, r: 5, sort: { y: 'x', reduce: 'mean' } }),
      ],
    },
  }
}
