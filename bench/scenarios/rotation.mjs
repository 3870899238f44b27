import axios from 'axios'
import { Agent } from 'node:http'
import { AGAIN, contestants, EVERGREEN, renewing, shownName, STATIC } from '../lib/contestants.mjs'
import { Plot } from '../lib/chart.mjs'
import { OTHER, PACKAGE } from '../lib/colors.mjs'
import * as findings from '../lib/findings.mjs'
import { load, quantiles, slices } from '../lib/load.mjs'
import { median } from '../lib/rounds.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, reach, table } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'

export const name = 'rotation'
export const title = 'Rotation under load: tokens of two seconds'

const PER_SECOND = 300
const LIFETIME_MS = 2_000
const TOKEN_LATENCY_MS = 100
const SLICES = 6
/** A median above this, with the static header, means that the machine is too busy, ms. Loopback alone takes one or two. */
const BUSY_MS = 20
/** With more, a late process would open thousands of sockets, and be later still. */
const MOST_SOCKETS = 50

export async function run({ quick }) {
  const seconds = quick ? 6 : 60
  const peers = renewing.map((each) => each.name).filter((each) => each !== EVERGREEN)
  // With more contestants at once, the run would measure how busy this process is.
  const all = await together([STATIC, AGAIN, EVERGREEN], seconds)
  const peerSeconds = Math.ceil(seconds / 3)
  for (const group of [peers.slice(0, 2), peers.slice(2, 4), peers.slice(4)])
    Object.assign(all, await together(group, peerSeconds))
  return { seconds, peerSeconds, contestants: all, tail: tailSpread(all) }
}

async function together(names, seconds) {
  const lifetimeOf = (each) => (isStatic(each) ? 3_600_000 : LIFETIME_MS)
  const { services, close } = await startServices(
    names.map((each) => ({ accessLifetimeMs: lifetimeOf(each), latencyMs: TOKEN_LATENCY_MS })),
  )
  const worlds = {}
  for (const [at, each] of names.entries()) worlds[each] = await world(each, services[at])
  await Promise.all(Object.values(worlds).map(({ get }) => get('/wallet')))
  await load(worlds, { seconds: Math.min(3, seconds / 2), perSecond: PER_SECOND })
  const taken = await load(worlds, { seconds, perSecond: PER_SECOND })
  const results = {}
  for (const [at, each] of names.entries()) {
    const { latencies, failed, endless } = taken[each]
    const counts = await services[at].counts()
    results[each] = {
      ...quantiles(latencies),
      sliceP999: slices(latencies, SLICES).map((slice) => quantiles(slice).p999),
      requests: latencies.length,
      waited: latencies.filter((ms) => ms >= TOKEN_LATENCY_MS).length,
      failed,
      endless,
      refusals: counts['resource 401'] ?? 0,
      tokenCalls: counts.obtain,
    }
    await worlds[each].close?.()
    worlds[each].httpAgent.destroy()
  }
  await close()
  return results
}

const isStatic = (each) => each === STATIC || each === AGAIN

async function world(each, service) {
  const { baseUrl } = service
  const httpAgent = new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS })
  const instance = axios.create({ baseURL: baseUrl, httpAgent, proxy: false })
  const context = { instance, baseUrl, service, obtain: tokenCall(service), lifetimeMs: LIFETIME_MS }
  return { ...(await contestants[isStatic(each) ? STATIC : each].create(context)), httpAgent }
}

/** @returns How much the 99.9 % quantile differs from that of the static header, as a median of the stretches of the run. */
function tailSpread({ [STATIC]: limit, [AGAIN]: again, [EVERGREEN]: evergreen }) {
  const beyond = ({ sliceP999 }) => sliceP999.map((ms, at) => ms - limit.sliceP999[at])
  const noise = beyond(again)
  return { ours: median(beyond(evergreen)), low: Math.min(...noise), high: Math.max(...noise) }
}

export function section({ seconds, peerSeconds, contestants: all, tail }) {
  const rows = Object.entries(all).map(
    ([each, { p50, p99, p999, worst, waited, failed, endless, refusals, tokenCalls }]) => [
      shownName(each),
      figure(p50, 2),
      figure(p99, 2),
      figure(p999, 1),
      figure(worst, 1),
      figure(refusals),
      figure(waited),
      figure(failed),
      figure(endless),
      figure(tokenCalls),
    ],
  )
  const ours = all[EVERGREEN]
  const transports = Object.values(contestants).filter(({ transport }) => transport !== 'axios')
  return `Each contestant sends ${PER_SECOND} requests a second over HTTP for ${seconds} s. A token lives ${LIFETIME_MS / 1_000} s, a token call
takes ${TOKEN_LATENCY_MS} ms. Static header, A/A and axios-evergreen run side by side in one process. The others run after them, for
${peerSeconds} s, two or three at a time.
${transports.map((each) => each.name).join(', ')} have transports of their own: compare 401s and waits rather than times.

${table(['contestant', '>p50, ms', '>p99, ms', '>p99.9, ms', '>worst, ms', '>401s at the API', `>${TOKEN_LATENCY_MS} ms or more`, '>failed', '>never ended', '>token calls'], rows)}

${all[STATIC].p50 > BUSY_MS ? 'The machine was too busy to hold the rate, even with the static header: these figures say nothing.\n' : ''}
${reach(ours.refusals === 0, `0 answers 401 at the API: ${figure(ours.refusals)}.`)}

${reach(ours.waited === 0 || ours.waited <= all[AGAIN].waited, `no request waits for a token after the first: ${figure(ours.waited)} took as long as a token call (A/A: ${figure(all[AGAIN].waited)}).`)}

${reach(tail.ours <= tail.high, `p99.9 within the A/A spread of the static header: ${figure(tail.ours, 1)} ms beyond it; A/A: ${figure(tail.low, 1)} to ${figure(tail.high, 1)} ms, over ${SLICES} stretches of the run.`)}`
}

export function charts(results) {
  const data = Object.entries(results.contestants).map(([who, { p50, p99, p999 }]) => ({ who, p50, p99, p999 }))
  const stroke = ({ who }) => (who === EVERGREEN ? PACKAGE : OTHER)
  return {
    'bench-rotation.svg': {
      title: findings.rotation(results, LIFETIME_MS),
      subtitle: 'Latency of requests: bars from the median to 99.9 %, dots at 99 %; a logarithmic scale',
      caption: `${PER_SECOND} requests a second over HTTP while a token lives ${LIFETIME_MS / 1_000} s and a token call takes ${TOKEN_LATENCY_MS} ms. A bar spans the time of a request from the median to the slowest in a thousand, the dot marks the slowest in a hundred. A request that waits for a token takes ${TOKEN_LATENCY_MS} ms or more. Static header and A/A are the same thing without any renewal.`,
      marginLeft: 205,
      marginRight: 60,
      height: 340,
      x: { label: 'ms', type: 'log', ticks: 6, tickFormat: (ms) => (/^[125]/.test(ms) ? figure(ms) : ''), grid: true },
      y: { label: null, domain: data.map(({ who }) => who), tickSize: 0 },
      marks: [
        Plot.ruleX([TOKEN_LATENCY_MS], { stroke: 'currentColor', strokeDasharray: '3,3' }),
        Plot.ruleY(data, { y: 'who', x1: 'p50', x2: 'p999', stroke, strokeWidth: 7 }),
        Plot.dot(data, { y: 'who', x: 'p99', fill: 'currentColor', r: 4 }),
        Plot.text(data, { y: 'who', x: 'p999', text: ({ p999 }) => `${figure(p999)} ms`, dx: 6, textAnchor: 'start' }),
      ],
    },
  }
}
