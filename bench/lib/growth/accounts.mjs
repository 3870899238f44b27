import { clientCredentials, createTokenManager } from '../../evergreen.mjs'
import { cpuTime } from '../cpu.mjs'
import { heap } from '../heap.mjs'
import { virtualClock } from '../virtual-clock.mjs'

const LIFETIME_MS = 60_000
const ANSWER = JSON.stringify({
  data: {
    type: 'auth-token',
    id: '1',
    attributes: { access: 'token', expires_in: LIFETIME_MS / 1_000, token_type: 'Bearer' },
  },
})

/** Few accounts cost too little to measure. Small sizes are repeated until there were this many accounts in all. */
const AT_LEAST = 1_000

/** Responds to token calls at once, on this thread. */
const adapter = async (config) => ({ data: ANSWER, status: 200, statusText: '', headers: {}, config })

/** Measures what `count` accounts in one process cost: creating a manager for each, and getting its token. */
export async function accounts(count) {
  const repeats = Math.ceil(AT_LEAST / count)
  const clock = countingClock()
  const sets = []
  const total = await cpuTime(async () => {
    for (let time = 0; time < repeats; time++) sets.push(await withTokens(count, clock))
  })
  const timers = clock.pending()
  const managers = sets.flat()
  await closed(managers)
  return { total: total / repeats, bytes: await heapOf(count), timers: timers / managers.length }
}

/** Bytes for each of `count` accounts. With the default clock, because a clock that counts takes memory too. */
async function heapOf(count) {
  const before = heap()
  const managers = await withTokens(count)
  const bytes = heap() - before
  await closed(managers)
  return bytes / count
}

async function withTokens(count, clock) {
  const managers = Array.from({ length: count }, (_, n) => manager(n, clock))
  await Promise.all(managers.map((tokens) => tokens.getAccessToken()))
  return managers
}

function closed(managers) {
  return Promise.all(managers.map((tokens) => tokens.close()))
}

/** Measures the same accounts after a while without use: their tokens have expired. */
export async function idleAccounts(count) {
  const clock = virtualClock()
  const before = heap()
  const managers = Array.from({ length: count }, (_, n) => manager(n, clock))
  const first = managers.map((tokens) => tokens.getAccessToken())
  // A token that was used is renewed once more.
  await clock.runTo(3 * LIFETIME_MS)
  await Promise.all(first.splice(0))
  const bytes = heap() - before
  return { bytes: bytes / managers.length, timers: clock.pendingTimers / managers.length }
}

function manager(n, clock) {
  const credentials = { clientId: `account-${n}`, clientSecret: `secret-${n}` }
  const source = clientCredentials({ baseUrl: 'http://127.0.0.1:1', ...credentials, transport: { adapter } })
  return createTokenManager({ source, clock })
}

/** This machine's clock, which also counts the timers that are set. */
function countingClock() {
  const timers = new Set()
  return {
    wallNow: () => Date.now(),
    monotonicNow: () => performance.now(),
    setTimer(callback, delayMs) {
      const timer = setTimeout(() => {
        timers.delete(timer)
        callback()
      }, delayMs).unref()
      timers.add(timer)
      return () => {
        timers.delete(timer)
        clearTimeout(timer)
      }
    },
    pending: () => timers.size,
  }
}
