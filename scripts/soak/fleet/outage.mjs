import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from './fleet.mjs'
import { failuresIn } from './verdict.mjs'
import { startWatchedService } from './watched-service.mjs'

const LATENCY_MS = 40
/** A fleet spreads its private obtains over this time. */
const SPREAD_MS = 2_000

/**
 * One process, first while Redis responds, then while Redis hangs.
 *
 * @returns The expectations, each with whether it held.
 */
export async function outage({ seconds, redis }) {
  console.log(`\nOne process, tokens of 3 s: ${seconds} s with Redis, then ${seconds} s in which Redis hangs.`)
  const watched = await startWatchedService({ accessLifetimeMs: 3_000, latencyMs: LATENCY_MS })
  const fleet = new Fleet({ watched, redisUrl: redis.url, everyMs: 5 })
  await fleet.grow(1)
  // A warm-up: Node compiles the code meanwhile.
  await pause(2_000)
  await fleet.reports()
  await pause(seconds * 1_000)
  const [before] = await fleet.reports()
  redis.freeze()
  await pause(seconds * 1_000)
  const [meanwhile] = await fleet.reports()
  redis.thaw()
  await fleet.end()
  await watched.close()

  const slower = median(meanwhile.withToken) - median(before.withToken)
  const longest = Math.max(...meanwhile.renewals.map(({ durationMs }) => durationMs))
  const { failures } = failuresIn([before, meanwhile], watched)
  return [
    [
      failures.length === 0,
      `${before.served + meanwhile.served} requests were served, ${failures.length} failed ${failures.join()}`,
    ],
    [
      slower <= 1,
      `with a live token a request took ${median(before.withToken).toFixed(2)} ms (median), and ${median(meanwhile.withToken).toFixed(2)} ms while Redis hung`,
    ],
    [
      longest - LATENCY_MS <= 500 + SPREAD_MS,
      `${meanwhile.renewals.length} renewals while Redis hung: the slowest took ${longest.toFixed()} ms, ${LATENCY_MS} ms of that at the service`,
    ],
  ]
}

function median(values) {
  return values.sort((one, other) => one - other)[values.length >> 1] ?? NaN
}
