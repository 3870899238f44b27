import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from './fleet.mjs'
import { startWatchedService } from './watched-service.mjs'

const STEPS = ['granted', 'exchange sent', 'exchange sent', 'answered', 'settle sent', 'settled']
const LATENCY_MS = 40
const EXCHANGE_TIMEOUT_MS = 400
/** Of a claim: the longest exchange and half of it. */
const CLAIM_MS = EXCHANGE_TIMEOUT_MS * 1.5
const RECOVERED_MS = CLAIM_MS + 1_000

/**
 * Processes on one account; in each round the one that renews is killed or frozen at a random step.
 *
 * @returns promises, each with whether it was kept.
 */
export async function rounds({ count, processes, redisUrl, dice }) {
  console.log(
    `\n${processes} processes on one account, tokens of 3 s. The one that renews is killed or frozen, ${count} times.`,
  )
  const watched = await startWatchedService({ accessLifetimeMs: 3_000, latencyMs: LATENCY_MS })
  const fleet = new Fleet({ watched, redisUrl, exchangeTimeoutMs: EXCHANGE_TIMEOUT_MS, everyMs: 100 })
  await fleet.grow(processes)
  const met = []
  for (let round = 1; round <= count; round += 1) {
    const step = dice.oneOf(STEPS)
    const signal = dice.oneOf(['SIGKILL', 'SIGSTOP'])
    const delayMs = dice.oneOf([0, 0, dice.whole(1, 2 * LATENCY_MS)])
    const fallen = await fleet.nextFalls({ step, signal, delayMs }, 30_000)
    await pause(RECOVERED_MS)
    met.push(...(await fleet.reports()))
    console.log(`${String(round).padStart(5)}  ${signal} ${delayMs} ms after '${step}': ${fallen.name}`)
    await pause(dice.whole(0, 500))
    fleet.thaw()
    await fleet.grow(processes - fleet.workers.length)
  }
  // Whoever has just thawed ends what it was in the middle of.
  await pause(RECOVERED_MS)
  met.push(...(await fleet.reports()))
  await fleet.end()
  await watched.close()

  const failures = met.flatMap((one) => one.failures)
  const unexplained = met.flatMap((one) => one.suspicions).filter((evidence) => evidence === 'unexplained')
  const withToken = met.flatMap((one) => one.withToken).sort((one, other) => one - other)
  // The rest is the machine's: it starts processes all the while.
  const usual = withToken[Math.floor(withToken.length * 0.99)]
  const longest = Math.max(0, ...met.flatMap((one) => one.without))
  const served = met.reduce((sum, one) => sum + one.served, 0)
  const twice = watched.twice()
  return [
    [twice.length === 0, `${watched.presented.size} refresh tokens were presented, ${twice.length} of them twice`],
    [unexplained.length === 0, `${unexplained.length} suspicions were unexplained`],
    [
      failures.length === 0,
      `${served} requests were served, ${failures.length} failed ${[...new Set(failures)].join()}`,
    ],
    [usual < CLAIM_MS / 2, `with a live token 99 % took at most ${usual.toFixed()} ms; a claim lasts ${CLAIM_MS} ms`],
    [longest <= RECOVERED_MS, `without one the slowest took ${longest.toFixed()} ms, at most ${RECOVERED_MS} ms`],
  ]
}
