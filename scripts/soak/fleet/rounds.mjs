import { setTimeout as pause } from 'node:timers/promises'
import { courseOf } from './courses.mjs'
import { Fleet } from './fleet.mjs'
import { explained, newHistory } from './histories.mjs'
import { failuresIn } from './verdict.mjs'
import { startWatchedService } from './watched-service.mjs'

const LATENCY_MS = 40
/** Long enough for a busy machine, and not longer: most rounds wait until a lease expires, which takes 1.5 times as long. */
const LIMITS = { exchangeTimeoutMs: 2_000, commandTimeoutMs: 5_000 }
/** Calls for each process that falls: its own, one that it could not report, and one of another process that was as quick. */
const CALLS_LOST = 3

/**
 * Processes on one account. In each round the process that renews is killed or frozen at a random step.
 *
 * @param at Where they share tokens: `{ redisUrl }` or `{ place }`, as for `Fleet`.
 * @param store What happens there: `{ trouble }` or `{ part, promote }`, as in `PLACES`; default: nothing.
 * @returns what was expected, each with whether it held.
 */
export async function rounds({ count, processes, at, store = {}, dice }) {
  const course = courseOf(store, { count, dice })
  // Many processes on few cores need this long until each has had its turn.
  const accessLifetimeMs = processes > 20 ? 10_000 : course.leastLifetimeMs
  console.log(
    `\n${processes} processes on one account, tokens of ${accessLifetimeMs / 1_000} s. The one that renews is killed or frozen, ${count} times.`,
  )
  const watched = await startWatchedService({ accessLifetimeMs, latencyMs: LATENCY_MS })
  const history = newHistory()
  const fleet = new Fleet({ watched, ...at, ...LIMITS, everyMs: 400, history })
  await fleet.grow(processes)
  const met = []
  for (let round = 1; round <= count; round += 1) {
    await course.before(round)
    const step = dice.oneOf(course.steps)
    const signal = dice.oneOf(['SIGKILL', 'SIGSTOP'])
    const delayMs = dice.oneOf([0, 0, dice.whole(1, 2 * LATENCY_MS)])
    const fallen = await fleet.nextFalls({ step, signal, delayMs })
    met.push(...(await course.after(fleet)), ...(await recovered(fleet)).met)
    console.log(`${String(round).padStart(5)}  ${signal} ${delayMs} ms after '${step}': ${fallen.name}`)
    await pause(dice.whole(0, 500))
    fleet.thaw()
    await fleet.grow(processes - fleet.workers.length)
  }
  // A process that has just thawed ends the step that it was in.
  met.push(...(await recovered(fleet)).met)
  await fleet.end()
  await watched.close()

  const { failures, late } = failuresIn(met, watched)
  const unexplained = met.flatMap((one) => one.suspicions).filter((evidence) => evidence === 'unexplained')
  const sum = (name) => met.reduce((total, one) => total + one[name], 0)
  const renewals = met.flatMap((one) => one.renewals)
  const exchanges = renewals.filter(({ by }) => by !== 'adopted').length
  const adoptions = renewals.length - exchanges
  const twice = watched.twice()
  return [
    [twice.length === 0, `${watched.presented.size} refresh tokens were presented, ${twice.length} of them twice`],
    explained(history, course.leastEpochs),
    ...course.promises(),
    [unexplained.length === 0, `${unexplained.length} suspicions were unexplained`],
    [failures.length === 0, `${sum('served')} requests were served, ${failures.length} failed ${failures.join()}`],
    [true, `${late} requests were on their way until both of their tokens had ended`],
    [fleet.crashes.length === 0, `${fleet.crashes.length} processes ended by themselves ${fleet.crashes.join()}`],
    [sum('waited') === 0, `${sum('waited')} requests waited although a token was there`],
    [
      watched.calls <= 2 * exchanges + CALLS_LOST * count * course.falls,
      `${watched.calls} token calls, ${exchanges} of them brought a token to their process, ${watched.lost} had a caller that did not wait or died`,
    ],
    [adoptions > exchanges, `${adoptions} times a process adopted the token of another`],
  ]
}

/**
 * Waits until every process that is not frozen has the next token, and has then begun a request that was served.
 *
 * @returns `met`: all reports meanwhile; `hung`: the names of the processes that had not done so after `limitMs`.
 */
export async function recovered(fleet, limitMs = Infinity) {
  const endAt = performance.now() + limitMs
  const met = await fleet.reports()
  const renewed = new Set()
  const served = new Set()
  const hung = () => fleet.awake.flatMap(({ name }) => (served.has(name) ? [] : name))
  while (hung().length > 0 && performance.now() < endAt) {
    await pause(250)
    for (const report of await fleet.reports()) {
      if (renewed.has(report.name) && report.begunAndServed > 0) served.add(report.name)
      if (report.renewals.length > 0) renewed.add(report.name)
      met.push(report)
    }
  }
  return { met, hung: hung() }
}
