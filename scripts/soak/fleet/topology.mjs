import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from './fleet.mjs'
import { explained, newHistory } from './histories.mjs'
import { PLACES } from './places.mjs'
import { failuresIn } from './verdict.mjs'
import { startWatchedService } from './watched-service.mjs'

/**
 * Processes on one account that share through a real store. The store is killed or restarted meanwhile.
 *
 * @returns what was expected, each with whether it held.
 */
export async function topology({ on, client, seconds, processes, kills }) {
  const { trouble, times: usual, ...place } = await PLACES[on]()
  const times = kills || usual
  console.log(`\n${processes} processes with ${client} on ${on}, tokens of 3 s, for ${seconds} s.`)
  const watched = await startWatchedService({ accessLifetimeMs: 3_000, latencyMs: 40 })
  const history = newHistory()
  const at = { kind: place.kind, ports: place.ports, client }
  const fleet = new Fleet({ watched, place: at, everyMs: 100, history })
  await fleet.grow(processes)
  for (let n = 0; n < times; n += 1) {
    await pause((seconds * 1_000) / (times + 1))
    await trouble()
  }
  await pause((seconds * 1_000) / (times + 1))
  const met = await fleet.reports()
  await fleet.end()
  await watched.close()
  const { failures, late } = failuresIn(met, watched)
  const suspicions = met.flatMap((one) => one.suspicions)
  const unexplained = suspicions.filter((evidence) => evidence === 'unexplained')
  const served = met.reduce((sum, one) => sum + one.served, 0)
  const twice = watched.twice()
  return [
    [failures.length === 0, `${served} requests were served, ${failures.length} failed ${failures.join()}`],
    [true, `${late} requests were on their way until both of their tokens had ended`],
    [twice.length === 0, `${watched.presented.size} refresh tokens were presented, ${twice.length} of them twice`],
    explained(history),
    [unexplained.length === 0, `${unexplained.length} of ${suspicions.length} suspicions were unexplained`],
    [true, `${watched.calls} token calls, with ${times} kills or restarts of the store`],
  ]
}
