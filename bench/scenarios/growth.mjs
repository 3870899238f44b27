import { accounts, idleAccounts } from '../lib/growth/accounts.mjs'
import { curve, slopeOf } from '../lib/growth/curve.mjs'
import { instances } from '../lib/growth/instances.mjs'
import { processes } from '../lib/growth/processes.mjs'
import { requests } from '../lib/growth/requests.mjs'
import { waiters } from '../lib/growth/waiters.mjs'
import { figure } from '../lib/table.mjs'

export const name = 'growth'
export const title = 'Growth: what one more of it costs'
/** The number of this form of the results. Raise it when the form, or what is measured, changes. */
export const form = 2

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

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ curves, fleet }) {
  const slopes = [...curves.map(({ slope }) => slope), ...(fleet ? [fleet.slope] : [])]
  const bytes = figure(curves[2].points.at(-1).bytes)
  return [
    `the steepest slope of ${slopes.length} costs (waiting callers, instances, accounts, requests, processes on one Redis); 1 is linear`,
    figure(Math.max(...slopes), 2),
    `an account with a valid token takes ${bytes} bytes of heap`,
  ]
}
