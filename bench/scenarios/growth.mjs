import { Plot } from '../lib/chart.mjs'
import { PACKAGE } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { accounts, idleAccounts } from '../lib/growth/accounts.mjs'
import { curve, slopeOf } from '../lib/growth/curve.mjs'
import { instances } from '../lib/growth/instances.mjs'
import { processes } from '../lib/growth/processes.mjs'
import { requests } from '../lib/growth/requests.mjs'
import { waiters } from '../lib/growth/waiters.mjs'
import { figure, reach, table } from '../lib/table.mjs'

export const name = 'growth'
export const title = 'Growth: what one more of it costs'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 2

/** The most heap for an account with its token and its source, bytes. */
const MOST_BYTES = 4_200
/** The steepest slope: 1 is linear; caches and the garbage collector add the rest at large numbers. */
const STEEPEST = 1.1
/** By how much token calls may grow: with more processes, jitter (a tenth of so short a life) and a `Date` in whole seconds make renewals earlier. */
const SOONER = 1.35

const CURVES = [
  { grows: 'callers who wait for one token', sizes: [100, 1_000, 10_000, 100_000], measure: waiters },
  { grows: 'axios instances on one manager', sizes: [10, 100, 1_000, 10_000], measure: instances },
  { grows: 'accounts in one process', sizes: [10, 100, 1_000, 10_000], measure: accounts },
  { grows: 'requests per second', sizes: [10, 100, 1_000, 10_000], measure: requests },
]

export async function run({ quick = false } = {}) {
  const curves = []
  for (const { grows, sizes, measure } of CURVES)
    curves.push(await curve({ grows, sizes: quick ? sizes.slice(0, 3) : sizes, rounds: quick ? 1 : 3, measure }))
  const idle = await idleAccounts(quick ? 1_000 : 10_000)
  const [hosts, seconds] = quick ? [[1, 2], 3] : [[1, 2, 4, 8, 16], 9]
  const points = await processes({ sizes: hosts, seconds })
  return { curves, idle, fleet: points ? { points, seconds, slope: slopeOf(points) } : null }
}

export function ratios({ curves, idle }) {
  const [waiting, attached, held, sent] = curves.map(({ points }) => points.at(-1))
  const slopes = curves.map(({ grows, slope }) => [`slope, ${grows}`, { value: Math.max(1, slope), tolerance: 1.25 }])
  return {
    ...Object.fromEntries(slopes),
    'bytes of a waiting caller': { value: waiting.bytes, tolerance: 1.15 },
    'bytes of an attachment': { value: attached.bytes, tolerance: 1.15 },
    'bytes of an account': { value: held.bytes, tolerance: 1.15 },
    'bytes of an idle account': { value: idle.bytes, tolerance: 1.15 },
    'timers of an idle account': { value: idle.timers, tolerance: 1 },
    'token calls for many requests': { value: sent.calls, tolerance: 1 },
  }
}

export function section({ curves, idle, fleet }) {
  const rows = curves.map(({ grows, points, slope, lastSlope }) => [
    grows,
    points.map(({ n }) => figure(n)).join(', '),
    points.map(({ n, total }) => figure(total / n, 1)).join(', '),
    figure(slope, 2),
    figure(lastSlope, 2),
  ])
  const { bytes } = curves[2].points.at(-1)
  const slopes = [...curves.flatMap(({ slope, lastSlope }) => [slope, lastSlope]), ...(fleet ? [fleet.slope] : [])]
  return `Processor time in µs for each of them: for a caller to wait and be served, for an instance to be attached, for an account to be created and get its token, for a request
to be sent. The slope is that of the total cost, both axes logarithmic: 1 is linear, less is better.

${table(['what grows', '>how many', '>µs for each', '>slope', '>slope of the last step'], rows)}

${reach(
  Math.max(...slopes) <= STEEPEST,
  `nothing grows worse than linear: the steepest slope is ${figure(Math.max(...slopes), 2)} (up to ${STEEPEST} counts as linear).`,
)}

${table(['what else was measured', '>result'], others(curves, idle))}

${reach(
  bytes <= MOST_BYTES,
  `at most ${figure(MOST_BYTES)} bytes of heap for an account with a live token, its token source included: ${figure(bytes)}.`,
)}

${fleetSection(fleet)}`
}

/** What else the largest size showed. */
function others(curves, idle) {
  const [waiting, attached, held, sent] = curves.map(({ points }) => points)
  const [one, most] = [(points) => points[0], (points) => points.at(-1)]
  const bytes = (figures) => `${figure(figures.bytes)} bytes`
  const range = (points, what, digits) => [one(points)[what], most(points)[what]].map((value) => figure(value, digits))
  const [fewest, busiest] = range(sent, 'calls')
  return [
    [
      `heap for each of ${figure(most(waiting).n)} waiting callers, its signal's listener included`,
      bytes(most(waiting)),
    ],
    [`heap for each of ${figure(most(attached).n)} attachments`, bytes(most(attached))],
    [
      `a request on one of ${figure(one(attached).n)} attached instances, on one of ${figure(most(attached).n)}`,
      `${range(attached, 'request', 1).join(' µs, ')} µs`,
    ],
    [
      `heap for each of ${figure(most(held).n)} accounts with a live token, its token source included`,
      bytes(most(held)),
    ],
    ['timers for each of them', figure(most(held).timers, 1)],
    ['heap for each of as many accounts that have been idle for three lifetimes', bytes(idle)],
    ['timers for each of those', figure(idle.timers, 1)],
    [
      `token calls in 10 s with tokens of 4 s, at ${figure(one(sent).n)} and at ${figure(most(sent).n)} requests per second`,
      `${fewest}, ${busiest}`,
    ],
    ['most timers at once in either', range(sent, 'timers').join(', ')],
  ]
}

function fleetSection(fleet) {
  if (!fleet) return 'There was no redis-server on PATH: processes on one Redis were not measured.'
  const rows = fleet.points.map(({ n, total, calls, failed, medianMs, p99Ms }) => [
    n,
    figure(total, 1),
    figure(total / n, 2),
    calls,
    failed,
    `${figure(medianMs, 1)}, ${figure(p99Ms, 1)}`,
  ])
  const columns = ['processes', '>commands per second', '>of each', '>token calls', '>requests failed']
  const calls = fleet.points.map((point) => point.calls)
  return `Real processes on one account and one Redis, tokens of 3 s, ten requests a second from each, ${fleet.seconds} s at each size. Commands grow with a
slope of ${figure(fleet.slope, 2)}. With more processes than cores, requests take longer.

${table([...columns, '>a request: median, 99 %, ms'], rows)}

${reach(
  Math.max(...calls) <= calls[0] * SOONER + 1,
  `token calls do not grow with the processes: ${calls.join(', ')}. (There are two reasons for a few more. With jitter, the process with the earliest time renews for all. And processes
read the time from a \`Date\` header in whole seconds, which is much for a token of 3 s.)`,
)}`
}

export function charts(results) {
  const { curves, fleet } = results
  const all = [...curves, ...(fleet ? [{ grows: 'commands of processes\non one Redis', points: fleet.points }] : [])]
  const panel = ({ grows }) => grows.replace(/ (on|in|for|per) /, '\n$1 ')
  const data = all.flatMap(({ grows, points }) =>
    points.map(({ n, total }) => ({
      panel: panel({ grows }),
      n,
      relative: total / n / (points[0].total / points[0].n),
    })),
  )
  return {
    'bench-growth.svg': {
      title: findings.growth(results, STEEPEST),
      subtitle: 'Cost of each one, relative to the smallest size; a level line is linear, a falling one is better',
      caption:
        'What one of many costs, as a multiple of what one of the fewest costs: processor time, and for processes on one Redis the commands. The dashed line is linear growth; below it, each one costs less the more there are. Both scales are logarithmic.',
      height: 270,
      marginTop: 50,
      marginRight: 16,
      x: { label: 'how many', type: 'log', tickFormat: thousands, ticks: [1, 100, 10_000] },
      y: { label: 'times', type: 'log', domain: [0.2, 5], tickFormat: String, ticks: [0.2, 0.5, 1, 2, 5], grid: true },
      fx: { axis: null, domain: all.map(panel), padding: 0.08 },
      marks: [
        Plot.text(all, { fx: panel, text: panel, frameAnchor: 'top', dy: -38, fontSize: 11.5 }),
        Plot.ruleY([1], { stroke: 'currentColor', strokeDasharray: '2 4' }),
        Plot.lineY(data, { fx: 'panel', x: 'n', y: 'relative', stroke: PACKAGE, strokeWidth: 2, clip: true }),
        Plot.dot(data, { fx: 'panel', x: 'n', y: 'relative', fill: PACKAGE, r: 3.5 }),
      ],
    },
  }
}

/** `10k`, because there is little room. */
function thousands(n) {
  return n < 1_000 ? String(n) : `${n / 1_000}k`
}
