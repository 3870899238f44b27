import { summary, Tally } from '../lib/outage/tally.mjs'
import { figure } from '../lib/table.mjs'
import { cores, inThreads } from '../lib/threads.mjs'

export const name = 'outage'
export const title = 'Outage: the token service is temporarily unavailable'

const WORKER = new URL('../lib/outage/worker.mjs', import.meta.url)

export async function run({ quick = false } = {}) {
  const count = quick ? 2_000 : 200_000
  const tally = new Tally()
  const tasks = Array.from({ length: cores }, (_, n) => ({ first: n + 1, count, step: cores }))
  for (const classes of await inThreads(WORKER, tasks)) tally.join(classes)
  return { count, classes: tally.classes }
}

export function ratios({ classes }) {
  const { fast7, silent10, all, fastRecoveryMs, otherRecoveryMs } = summary(classes)
  return {
    'calls that felt 7 s of failing at once': { value: fast7.failed + fast7.delayed, tolerance: 1 },
    'calls that failed in 10 s without an answer': { value: silent10.failed, tolerance: 1 },
    'errors without retryAt': { value: all.mute, tolerance: 1 },
    'unexplained suspicions': { value: all.alarms, tolerance: 1 },
    'token calls in the first minute': { value: all.firstMinute, tolerance: 1 },
    'token calls in a later minute': { value: all.laterMinute, tolerance: 1 },
    // These are measured in virtual time, so they do not depend on the machine.
    'recovery from failing at once, ms': { value: fastRecoveryMs, tolerance: 1.02 },
    'recovery from anything else, ms': { value: otherRecoveryMs, tolerance: 1.02 },
  }
}

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ count, classes }) {
  const { fast7, silent10, all } = summary(classes)
  const calls = `${all.firstMinute} token requests in the first minute and ${all.laterMinute} in each later one`
  return [
    `API requests that failed or waited in ${figure(fast7.outages)} of ${figure(count)} random outages, those of up to 7 s that fail at once`,
    figure(fast7.failed + fast7.delayed),
    `without a response up to 10 s: ${figure(silent10.failed)} failed; at most ${calls}`,
  ]
}
