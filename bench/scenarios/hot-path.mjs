import axios from 'axios'
import { Agent } from 'node:http'
import { AGAIN, contestants, EVERGREEN, REFERENCE, shownName } from '../lib/contestants.mjs'
import { chart, COLORS, Plot } from '../lib/chart.mjs'
import { answeringAtOnce, BASE_URL } from '../lib/in-process-api.mjs'
import { compared, interleaved, median } from '../lib/rounds.mjs'
import { startServices } from '../lib/services.mjs'
import { figure, ratio, reach, table } from '../lib/table.mjs'
import { tokenCall } from '../lib/token-call.mjs'

export const name = 'hot-path'
export const title = 'Hot path: a request with a fresh token'

const LIFETIME_MS = 3_600_000
const MOST = 1.05
/** A million requests that keep a single byte each would show as a megabyte. */
const MOST_BYTES_KEPT = 1

export async function run({ quick }) {
  const instances = await inProcess()
  const names = Object.keys(instances)
  const time = await interleaved({
    rounds: quick ? 11 : 41,
    warmUps: quick ? 4 : 6,
    contestants: names,
    measure: (each) => timed(instances[each], quick ? 500 : 1_000),
  })
  const memory = await interleaved({
    rounds: quick ? 5 : 25,
    contestants: names,
    measure: (each) => allocated(instances[each], 100),
  })
  return {
    inProcess: compared(time, 'us', REFERENCE),
    allocations: compared(memory, 'bytes', REFERENCE),
    http: await overHttp(quick),
    growth: await growth(instances, quick ? 20_000 : 1_000_000),
  }
}

async function inProcess() {
  const obtain = async () => ({ accessToken: 'a-token-that-looks-like-one', lifetimeMs: LIFETIME_MS })
  const context = () => ({ instance: answeringAtOnce(), baseUrl: BASE_URL, obtain, lifetimeMs: LIFETIME_MS })
  return createAll(context)
}

/** The contestants and the reference's double, each with its token in hand where it can have one. */
async function createAll(context) {
  const all = {}
  for (const each of Object.values(contestants)) all[each.name] = await each.onAxios(context())
  all[AGAIN] = await contestants[REFERENCE].create(context())
  for (const { get } of Object.values(all)) await get('/wallet').catch(() => undefined)
  return all
}

async function timed({ get }, requests) {
  const startedAt = performance.now()
  for (let n = 0; n < requests; n++) await get('/wallet')
  return { us: ((performance.now() - startedAt) / requests) * 1_000 }
}

/** Few enough requests that nothing is collected meanwhile: what was allocated is all still there. */
async function allocated({ get }, requests) {
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  for (let n = 0; n < requests; n++) await get('/wallet')
  return { bytes: (process.memoryUsage().heapUsed - before) / requests }
}

async function overHttp(quick) {
  const { services, close } = await startServices([{ accessLifetimeMs: LIFETIME_MS }])
  const [{ baseUrl, client }] = services
  const httpAgent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  const obtain = tokenCall({ baseUrl, client })
  const instance = () => axios.create({ baseURL: baseUrl, httpAgent, proxy: false })
  const all = await createAll(() => ({ instance: instance(), baseUrl, obtain, lifetimeMs: LIFETIME_MS }))
  const rounds = await interleaved({
    rounds: quick ? 3 : 25,
    contestants: Object.keys(all),
    measure: (each) => atOnce(all[each], quick ? 200 : 500),
  })
  await all[EVERGREEN].close()
  httpAgent.destroy()
  await close()
  return compared(rounds, 'us', REFERENCE)
}

const CONCURRENCY = 16

async function atOnce({ get }, requests) {
  let left = requests
  const caller = async () => {
    while (left-- > 0) await get('/wallet')
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: CONCURRENCY }, caller))
  return { us: ((performance.now() - startedAt) / requests) * 1_000 }
}

/** The heap after each tenth of the requests; the first tenth is for warming up. */
async function growth({ [EVERGREEN]: evergreen }, requests) {
  const heapBytes = []
  for (let tenth = 0; tenth < 10; tenth++) {
    await timed(evergreen, requests / 10)
    globalThis.gc()
    heapBytes.push(process.memoryUsage().heapUsed)
  }
  await evergreen.close()
  const grownBytes = median(heapBytes.slice(-3)) - median(heapBytes.slice(1, 4))
  return { requests, heapBytes, grownBytes }
}

export function ratios({ inProcess, allocations, http }) {
  return {
    'time in process': { value: inProcess[EVERGREEN].ratio.median, tolerance: 1.12 },
    'bytes in process': { value: allocations[EVERGREEN].ratio.median, tolerance: 1.04 },
    'time over HTTP': { value: http[EVERGREEN].ratio.median, tolerance: 1.3 },
  }
}

export function section({ inProcess, allocations, http, growth }) {
  const rows = Object.keys(inProcess).map((each) => [
    shownName(each),
    figure(inProcess[each].median, 2),
    ratio(inProcess[each].ratio),
    figure(allocations[each].median),
    ratio(allocations[each].ratio),
    figure(1e6 / http[each].median),
    ratio(http[each].ratio),
  ])
  const ours = inProcess[EVERGREEN].ratio.median
  const oursOverHttp = http[EVERGREEN].ratio.median
  const flat = growth.grownBytes / growth.requests < MOST_BYTES_KEPT
  return `In process, the adapter answers at once: what is left is what axios and the contestant do. Over HTTP: ${CONCURRENCY} callers on
connections that are kept. The reference is a synchronous interceptor that sets a constant header. The three that have a transport of their own are
asked for their token by an interceptor here.

${table(['contestant', '>µs per request', '>ratio', '>bytes per request', '>ratio', '>HTTP requests per second', '>ratio of time'], rows)}

${reach(ours <= MOST, `at most ${MOST} × the reference in process: ${ours.toFixed(3)} ×.${ours <= MOST ? '' : WHY}`)}

${reach(oursOverHttp <= MOST, `at most ${MOST} × the reference over HTTP: ${oursOverHttp.toFixed(3)} ×.`)}

${reach(flat, `no heap growth over ${figure(growth.requests)} requests: ${figure(growth.grownBytes / 1_024, 1)} KiB.`)}`
}

const WHY = ` What it does beyond the reference: it looks up the token, compares the request's origin with those that may have it, sets the header through
axios, which checks it, takes it off again after the answer so that no error shows it, and awaits the answer to see whether it refuses the token.`

export function charts({ inProcess }) {
  const data = Object.entries(inProcess).map(
    ([
      who,
      {
        ratio: { median: times, low, high },
      },
    ]) => ({ who, times, low, high }),
  )
  const fill = ({ who }) => (who === EVERGREEN ? COLORS[0] : '#808080')
  const marks = [
    Plot.barX(data, { y: 'who', x: 'times', fill, sort: { y: 'x' } }),
    Plot.ruleY(data, { y: 'who', x1: 'low', x2: 'high', stroke: 'currentColor', strokeWidth: 1.5 }),
    Plot.ruleX([1], { stroke: 'currentColor', strokeDasharray: '3,3' }),
  ]
  return {
    'bench-hot-path.svg': chart({
      title: 'Time of a request with a fresh token, in process; constant interceptor = 1',
      marginLeft: 200,
      height: 340,
      x: { label: '× constant interceptor' },
      y: { label: null },
      marks,
    }),
  }
}
