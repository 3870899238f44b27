// Measures the code that a contestant runs on each request, without that of axios, for the process that started this one: its interceptor is called with a
// config as axios makes it, and then the adapter that it has installed.
import axios, { AxiosHeaders } from 'axios'
import { AGAIN, contestants, EVERGREEN, FLOOR, REFERENCE } from '../contestants.mjs'
import { cpuTime } from '../cpu.mjs'
import { answeringAtOnce, BASE_URL } from '../in-process-api.mjs'
import { interleaved } from '../rounds.mjs'

const LIFETIME_MS = 3_600_000
const REQUESTS_IN_TURN = 400
const LAPS = 20

const [rounds] = process.argv.slice(2)
const template = await configOfAxios()
const all = {}
for (const [name, from] of Object.entries({
  [REFERENCE]: REFERENCE,
  [FLOOR]: FLOOR,
  [EVERGREEN]: EVERGREEN,
  [AGAIN]: REFERENCE,
}))
  all[name] = await ownCodeOf(contestants[from])
const taken = await interleaved({
  rounds: Number(rounds),
  warmUps: 6,
  laps: LAPS,
  contestants: Object.keys(all),
  measure: async (each) => ({ ns: ((await cpuTime(() => sent(all[each]))) / REQUESTS_IN_TURN) * 1_000 }),
})
process.send(taken, () => process.exit())

/** @returns A config as the first interceptor gets it. */
async function configOfAxios() {
  let seen
  const instance = axios.create({ baseURL: BASE_URL, adapter: (config) => Promise.resolve({ config }) })
  instance.interceptors.request.use((config) => (seen = { ...config }), undefined, { synchronous: true })
  await instance.get('/wallet').catch(() => undefined)
  return seen
}

/** @returns A contestant with its token in hand. */
async function ownCodeOf({ create }) {
  const instance = answeringAtOnce()
  const obtain = async () => ({ accessToken: 'a-token-that-looks-like-one', lifetimeMs: LIFETIME_MS })
  const { get } = await create({ instance, baseUrl: BASE_URL, obtain, lifetimeMs: LIFETIME_MS })
  await get('/wallet')
  return { adapter: instance.defaults.adapter, intercept: instance.interceptors.request.handlers[0].fulfilled }
}

async function sent({ adapter, intercept }) {
  for (let n = 0; n < REQUESTS_IN_TURN; n++) {
    const own = { adapter, headers: new AxiosHeaders(template.headers) }
    // As in axios, without a prototype: V8 keeps such an object in another form.
    const config = intercept(Object.assign(Object.create(null), template, own))
    await config.adapter(config)
  }
}
