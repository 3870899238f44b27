// Measures what a request costs with each contestant on one kind of adapter, for the process that started this one.
import { AGAIN, contestants, EVERGREEN, FLOOR, REFERENCE } from '../contestants.mjs'
import { cpuTime } from '../cpu.mjs'
import { answeringAtOnce, BASE_URL } from '../in-process-api.mjs'
import { interleaved } from '../rounds.mjs'
import { onFetch, onHttp } from './real-adapters.mjs'

const INSTANCES = { inProcess: answeringAtOnce, http: onHttp, fetch: onFetch }
const LIFETIME_MS = 3_600_000
/** Contestants take turns after so few requests that a short slowdown of the machine meets all of them. */
const REQUESTS_IN_TURN = 25
const LAPS = 20
const WARM_UPS = 8

const [setting, rounds, quick] = process.argv.slice(2)
const all = await created(INSTANCES[setting])
// Warms up all contestants, also those that a quick run leaves out: their calls shape how V8 compiles the code of axios.
await interleaved({ rounds: 0, warmUps: WARM_UPS * LAPS, contestants: Object.keys(all), measure: timed })
const names = quick === undefined ? Object.keys(all) : [REFERENCE, FLOOR, EVERGREEN, AGAIN]
const time = await interleaved({ rounds: Number(rounds), laps: LAPS, contestants: names, measure: timed })
const memory = await interleaved({ rounds: 15, contestants: names, measure: allocated })
process.send({ time, memory }, () => process.exit())

/** @returns The contestants and the double of the reference, each with its token in hand if it keeps one. */
async function created(instance) {
  const obtain = async () => ({ accessToken: 'a-token-that-looks-like-one', lifetimeMs: LIFETIME_MS })
  const context = () => ({ instance: instance(), baseUrl: BASE_URL, obtain, lifetimeMs: LIFETIME_MS })
  const made = {}
  for (const each of Object.values(contestants)) made[each.name] = await each.onAxios(context())
  made[AGAIN] = await contestants[REFERENCE].create(context())
  for (const { get } of Object.values(made)) await get('/wallet').catch(() => undefined)
  return made
}

async function timed(each) {
  return { us: (await cpuTime(() => sent(all[each]))) / REQUESTS_IN_TURN }
}

/** Sends so few requests that no garbage is collected meanwhile: the heap then holds all that was allocated. */
async function allocated(each) {
  globalThis.gc({ type: 'minor' })
  const before = process.memoryUsage().heapUsed
  await sent(all[each])
  return { bytes: (process.memoryUsage().heapUsed - before) / REQUESTS_IN_TURN }
}

async function sent({ get }) {
  for (let n = 0; n < REQUESTS_IN_TURN; n++) await get('/wallet')
}
