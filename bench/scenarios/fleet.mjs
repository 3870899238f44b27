import { Plot } from '../lib/chart.mjs'
import { FAINT, OTHER, PACKAGE } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { OUTAGE, SECONDS } from '../lib/fleet/paper-fleet.mjs'
import { figure, reach, table } from '../lib/table.mjs'
import { inThreads } from '../lib/threads.mjs'

export const name = 'fleet'
export const title = 'Fleet on paper: ten thousand processes and one token service'

const WORKER = new URL('../lib/fleet/worker.mjs', import.meta.url)
const FLEETS = [
  { fleet: 'each on its own, no jitter', isShared: false, hasJitter: false },
  { fleet: 'each on its own, jitter', isShared: false, hasJitter: true },
  { fleet: 'shared store, no jitter', isShared: true, hasJitter: false },
  { fleet: 'shared store, jitter', isShared: true, hasJitter: true },
]

export async function run({ quick = false } = {}) {
  const tasks = FLEETS.map((each) => ({ ...each, processes: quick ? 500 : 10_000 }))
  const lives = await inThreads(WORKER, tasks)
  return lives.map(({ calls, steps }, n) => ({ ...tasks[n], calls: packed(calls), steps: packed(steps) }))
}

/** Puts six hundred figures on one line of results.json. */
function packed(counts) {
  return counts.join(' ')
}

function unpacked(text) {
  return text.split(' ').map(Number)
}

export function ratios(fleets) {
  const calls = Object.fromEntries(fleets.map(({ fleet, calls }) => [fleet, unpacked(calls)]))
  const [own, jittered, shared] = FLEETS.map(({ fleet }) => calls[fleet])
  return {
    'peak with jitter, of the peak without': {
      value: most(phases(jittered).usual) / most(phases(own).usual),
      tolerance: 1.15,
    },
    'token calls of all processes on one store': { value: sum(shared), tolerance: 1.1 },
  }
}

export function section(fleets) {
  const [{ processes }] = fleets
  const rows = fleets.map(({ fleet, isShared, calls, steps }) => {
    const { start, usual, away, back } = phases(unpacked(calls))
    const inStore = phases(unpacked(steps))
    return [
      fleet,
      figure(most(start)),
      figure(most(usual)),
      figure((sum(usual) / usual.length) * 60),
      figure(most(away)),
      figure(most(back)),
      isShared ? `${figure(most(inStore.start))}, ${figure(most(inStore.usual))}` : undefined,
    ]
  })
  const columns = [
    'fleet',
    '>at the start',
    '>later',
    '>a minute, on average',
    '>in the outage',
    '>after it',
    '>store: start, later',
  ]
  const shared = fleets.filter(({ isShared }) => isShared).map(({ calls }) => phases(unpacked(calls)).away)
  const [first, later] = [shared.map((away) => sum(away.slice(0, 60))), shared.map((away) => sum(away.slice(60)))].map(
    most,
  )
  return `${figure(processes)} processes in virtual time. All start in the same instant, and keep a token of 60 s for
${SECONDS / 60} minutes. The service takes 50 to 150 ms, and answers 503 from minute ${OUTAGE[0] / 60} to minute ${OUTAGE[1] / 60}. The figures are the most token calls in one second, and for
the store the most commands in one second. Jitter spreads renewals over a fifth of the [skew](../glossary.md#skew), here 3 s, and a little more with each renewal. Without a
shared store nothing spreads the start.

${table(columns, rows)}

${reach(first <= 10 && later <= 4, `with a shared store the whole fleet makes at most 10 token calls in the first minute of an outage and 4 in each later one (P6): ${first} and ${later}.`)}`
}

/** The start is ten seconds long: no process renews as early. */
function phases(counts) {
  return {
    start: counts.slice(0, 10),
    usual: counts.slice(10, OUTAGE[0]),
    away: counts.slice(...OUTAGE),
    back: counts.slice(OUTAGE[1]),
  }
}

function most(counts) {
  return Math.max(...counts)
}

function sum(counts) {
  return counts.reduce((all, count) => all + count, 0)
}

export function charts(fleets) {
  const data = fleets.flatMap(({ fleet, isShared, calls }) =>
    unpacked(calls)
      .map((count, second) => ({ fleet, isShared, minute: second / 60, count }))
      .filter(({ count }) => count > 0),
  )
  const [from, to] = OUTAGE.map((second) => second / 60)
  const away = fleets.map(({ fleet }) => ({ fleet, from, to }))
  const highest = most(data.map(({ count }) => count))
  const ticks = [1, 10, 100, 1_000, 10_000].filter((count) => count <= highest)
  return {
    'bench-fleet.svg': {
      title: findings.fleet(fleets, ({ calls }) => most(unpacked(calls))),
      subtitle: 'Token calls in each second, logarithmic; in the shaded minutes the service answers 503',
      caption: `Token calls of ${figure(fleets[0].processes)} processes in virtual time, each with a token of 60 s, for ${SECONDS / 60} minutes. Every line is one second; the scale is logarithmic. All processes start in the same instant. In the shaded minutes the token service answers 503. In grey, each process gets tokens of its own; in colour, all share one store.`,
      height: 500,
      marginRight: 20,
      x: { label: 'minute', domain: [0, SECONDS / 60] },
      y: {
        label: null,
        type: 'symlog',
        ticks,
        domain: [0, highest * 3],
        tickFormat: (count) => figure(count),
        grid: true,
      },
      fy: { label: null, domain: FLEETS.map((each) => each.fleet), axis: null },
      marks: [
        Plot.rectX(away, { x1: 'from', x2: 'to', fy: 'fleet', fill: FAINT, fillOpacity: 0.5 }),
        Plot.ruleX(data, {
          x: 'minute',
          y2: 'count',
          fy: 'fleet',
          stroke: ({ isShared }) => (isShared ? PACKAGE : OTHER),
          strokeWidth: 1.2,
        }),
        Plot.text(FLEETS, {
          fy: 'fleet',
          text: 'fleet',
          frameAnchor: 'top-left',
          dx: 6,
          fontWeight: 600,
        }),
        Plot.ruleY([0]),
      ],
    },
  }
}
