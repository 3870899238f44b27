import { attachBearer, createTokenManager } from '../../evergreen.mjs'
import { cpuTime } from '../cpu.mjs'
import { heap } from '../heap.mjs'
import { answeringAtOnce, BASE_URL } from '../in-process-api.mjs'
import { virtualClock } from '../virtual-clock.mjs'

const LIFETIME_MS = 4_000
const SECONDS = 10
/** The most requests at once. */
const BATCH = 100

/** Ten seconds of virtual time with `perSecond` requests a second, on tokens of 4 s. */
export async function requests(perSecond) {
  const clock = virtualClock()
  let calls = 0
  const obtain = async () => ({ accessToken: `token-${(calls += 1)}`, accessLifetimeMs: LIFETIME_MS })
  const tokens = createTokenManager({ source: { id: 'one', origin: BASE_URL, obtain }, clock, random: () => 0.5 })
  const api = answeringAtOnce()
  attachBearer(api, tokens)
  await api.get('/wallet')
  const batch = Math.min(BATCH, perSecond)
  const before = heap()
  let timers = 0
  const total = await cpuTime(async () => {
    for (let sent = 0; sent < SECONDS * perSecond; sent += batch) {
      await clock.runTo((sent / perSecond) * 1_000)
      await Promise.all(Array.from({ length: batch }, () => api.get('/wallet')))
      timers = Math.max(timers, clock.pendingTimers)
    }
  })
  const bytes = heap() - before
  await tokens.close()
  return { total: total / SECONDS, calls, timers, bytes }
}
