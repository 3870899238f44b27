import { OUTAGE, SECONDS } from '../lib/fleet/paper-fleet.mjs'
import { figure } from '../lib/table.mjs'
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

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf(fleets) {
  const highest = (isShared) =>
    figure(most(fleets.filter((each) => each.isShared === isShared).map(({ calls }) => most(unpacked(calls)))))
  return [
    `token requests in the busiest second of ${SECONDS / 60} minutes, from ${figure(fleets[0].processes)} processes that start at once (virtual time)`,
    `${highest(true)} with a shared store`,
    `${highest(false)} without one`,
  ]
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
