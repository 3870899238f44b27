import { attachBearer, createTokenManager } from '../../evergreen.mjs'
import { cpuTime } from '../cpu.mjs'
import { heap } from '../heap.mjs'
import { answeringAtOnce, BASE_URL } from '../in-process-api.mjs'

const REQUESTS = 5_000
const AT_LEAST = 5_000

/** Measures how long it takes to attach `count` axios instances to one manager, and how long a request then takes. */
export async function instances(count) {
  const source = {
    id: 'one',
    origin: BASE_URL,
    obtain: async () => ({ accessToken: 'token', accessLifetimeMs: 3_600_000 }),
  }
  const tokens = createTokenManager({ source })
  await tokens.getAccessToken()
  const repeats = Math.ceil(AT_LEAST / count)
  const sets = Array.from({ length: repeats }, () => Array.from({ length: count }, () => answeringAtOnce()))
  const before = heap()
  const total = await cpuTime(() => {
    for (const set of sets) for (const api of set) attachBearer(api, tokens)
  })
  const bytes = heap() - before
  const [set] = sets
  const request = await cpuTime(async () => {
    for (let n = 0; n < REQUESTS; n++) await set[n % count].get('/wallet')
  })
  await tokens.close()
  return { total: total / repeats, bytes: bytes / repeats / count, request: request / REQUESTS }
}
