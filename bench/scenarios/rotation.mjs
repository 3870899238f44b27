import axios from 'axios'
import { Agent } from 'node:http'
import { AGAIN, contestants, EVERGREEN, others, STATIC } from '../lib/contestants.mjs'
import { load } from '../lib/load.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, range } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'

export const name = 'rotation'
export const title = 'Rotation under load: tokens of two seconds'

const PER_SECOND = 300
const LIFETIME_MS = 2_000
const TOKEN_LATENCY_MS = 100
/** With more, a late process would open thousands of sockets, and be even later. */
const MOST_SOCKETS = 50

export async function run({ quick }) {
  const seconds = quick ? 6 : 60
  // With more contestants at once, the run would measure how busy this process is.
  const all = await together([STATIC, AGAIN, EVERGREEN], seconds)
  const peerSeconds = Math.ceil(seconds / 3)
  for (const group of [others.slice(0, 2), others.slice(2, 4), others.slice(4)])
    Object.assign(all, await together(group, peerSeconds))
  return { seconds, peerSeconds, contestants: all }
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

/** The figure of this scenario on the page: what it is, ours, and what it is compared with. */
export function figureOf({ contestants: all }) {
  const share = ({ waited, requests }) => (waited / requests) * 100
  return [
    `requests that waited for a token, while tokens of ${LIFETIME_MS / 1_000} s rotate under ${PER_SECOND} requests a second`,
    `${figure(all[EVERGREEN].waited)} of ${figure(all[EVERGREEN].requests)}`,
    `others ${range(others.map((each) => share(all[each])))
      .map((one) => figure(one, 1))
      .join(' % to ')} %; noise (A/A) ${figure(all[AGAIN].waited)}`,
  ]
}
