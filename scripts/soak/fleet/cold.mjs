import { Fleet } from './fleet.mjs'
import { startWatchedService } from './watched-service.mjs'

const BUSY_MS = 300

/**
 * Processes that start at the same time with an empty store. They are busy when the store responds.
 *
 * @returns what was expected, each with whether it held.
 */
export async function cold({ processes, redisUrl }) {
  console.log(`\n${processes} processes start with an empty store, and with ${BUSY_MS} ms of synchronous work.`)
  const watched = await startWatchedService({ accessLifetimeMs: 600_000, latencyMs: 40 })
  const fleet = new Fleet({ watched, redisUrl, busyMs: BUSY_MS, everyMs: 1_000 })
  await fleet.grow(processes, processes)
  const { calls } = watched
  await fleet.end()
  await watched.close()
  return [[calls <= 3, `${calls} token requests until all of them had a token (3 are allowed)`]]
}
