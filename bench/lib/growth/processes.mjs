import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from '../../../scripts/soak/fleet/fleet.mjs'
import { startRedis } from '../../../scripts/lib/redis-server.mjs'
import { startWatchedService } from '../../../scripts/soak/fleet/watched-service.mjs'
import { median, quantile } from '../rounds.mjs'

const LIFETIME_MS = 3_000
const SETTLED_MS = LIFETIME_MS
const SIGNALS = ['SIGINT', 'SIGTERM']

/** Measures what growing numbers of real processes on one account cost Redis and the token service. @returns undefined without a Redis. */
export async function processes({ sizes, seconds }) {
  const redis = await startRedis().catch(() => undefined)
  if (!redis) return undefined
  // The exit handler of the fleet ends all processes. A signal alone would not run that handler.
  for (const signal of SIGNALS) process.once(signal, leave)
  const watched = await startWatchedService({ accessLifetimeMs: LIFETIME_MS, latencyMs: 20 })
  const fleet = new Fleet({ watched, redisUrl: redis.url, everyMs: 100 })
  const points = []
  try {
    for (const n of sizes) {
      await fleet.grow(n - fleet.workers.length)
      await pause(SETTLED_MS)
      await fleet.reports()
      const [callsBefore, startedAt] = [watched.calls, performance.now()]
      await pause(seconds * 1_000)
      const calls = watched.calls - callsBefore
      points.push({ n, ...summed(await fleet.reports(), calls, (performance.now() - startedAt) / 1_000) })
    }
    await fleet.end()
  } finally {
    await watched.close()
    await redis.stop()
    for (const signal of SIGNALS) process.off(signal, leave)
  }
  return points
}

function leave() {
  process.exit(1)
}

function summed(reports, calls, seconds) {
  const all = (what) => reports.flatMap((report) => report[what])
  const times = all('withToken')
  return {
    total: all('commands').reduce((sum, count) => sum + count, 0) / seconds,
    calls,
    failed: all('failures').length,
    medianMs: median(times),
    p99Ms: quantile(times, 0.99),
  }
}
