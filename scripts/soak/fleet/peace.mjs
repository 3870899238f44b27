import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from './fleet.mjs'
import { failuresIn } from './verdict.mjs'
import { startWatchedService } from './watched-service.mjs'

const ACCESS_LIFETIME_MS = 15_000
const IDLE_MS = 5_000

/**
 * Processes that share one account, and one process alone on another account, without any fault.
 *
 * @returns what was expected, each with whether it held.
 */
export async function peace({ seconds, processes, redisUrl }) {
  console.log(
    `\n${processes} processes on one account, tokens of 15 s, for ${seconds} s; beside them one process on another account.`,
  )
  const sides = await Promise.all(
    [processes, 1].map(async (count) => {
      const watched = await startWatchedService({ accessLifetimeMs: ACCESS_LIFETIME_MS, latencyMs: 40 })
      const fleet = new Fleet({ watched, redisUrl, everyMs: 250 })
      await fleet.grow(count, count)
      await fleet.reports()
      return { watched, fleet, callsBefore: watched.calls }
    }),
  )
  await pause(seconds * 1_000)
  const [many, alone] = sides.map(({ watched, callsBefore }) => watched.calls - callsBefore)
  const [{ fleet, watched }] = sides
  const met = await fleet.reports()

  fleet.tell({ rest: true })
  // A token in use is renewed once more; then it lapses.
  await pause(2 * ACCESS_LIFETIME_MS)
  await fleet.reports()
  await pause(IDLE_MS)
  const idle = (await fleet.reports()).reduce((sum, { commands }) => sum + commands, 0)
  for (const side of sides) {
    await side.fleet.end()
    await side.watched.close()
  }

  const renewals = met.flatMap((one) => one.renewals)
  const winners = renewals.filter(({ by }) => by !== 'adopted').map(({ commands }) => commands)
  const tooMany = renewals.filter(
    ({ by, commands, durationMs }) => by === 'adopted' && commands > 3 + (4 * durationMs) / 1_000,
  )
  const { failures } = failuresIn(met, watched)
  const twice = watched.twice()
  return [
    [twice.length === 0, `${watched.presented.size} refresh tokens were presented, ${twice.length} of them twice`],
    [failures.length === 0, `${failures.length} requests failed ${failures.join()}`],
    [many <= alone * 1.25 + 1, `${many} token requests; the process alone made ${alone}`],
    [
      Math.max(...winners) <= 4,
      `${winners.length} renewals took at most ${Math.max(...winners)} commands (4 are allowed)`,
    ],
    [
      tooMany.length === 0,
      `${tooMany.length} of ${renewals.length - winners.length} adoptions took more than 3 commands and 4 a second`,
    ],
    [idle === 0, `while idle, all processes together sent ${idle} commands in ${IDLE_MS / 1_000} s`],
  ]
}
