import { AGAIN, contestants, EVERGREEN, renewing, STATIC } from './contestants.mjs'
import { cpuTime } from './cpu.mjs'
import { heap } from './heap.mjs'
import { BASE_URL, checking, silent } from './in-process-api.mjs'
import { interleaved, spread } from './rounds.mjs'

/**
 * Measures what `count` requests cost that all start without a token, as a multiple of requests with the static header in the same round.
 *
 * @param others The contestants to measure beside ours.
 * @returns `plain`: without signals; `signals`: each caller has a signal of its own. Both by name: `{ cpu, clock }`.
 */
export async function costOfWaiting(count, { rounds, others }) {
  const names = [STATIC, AGAIN, EVERGREEN, ...others]
  const cost = { callers: count }
  for (const way of ['plain', 'signals']) {
    const measure = (name) => served(name, count, way)
    const taken = await interleaved({ rounds, warmUps: 2, contestants: names, measure })
    const times = (name, what) => spread(taken.map((figures) => figures[name][what] / figures[STATIC][what]))
    cost[way] = Object.fromEntries(
      names.map((name) => [name, { cpu: times(name, 'cpu'), clock: times(name, 'clock') }]),
    )
  }
  return cost
}

async function served(name, count, way) {
  // The token comes a turn of the event loop later: by then all callers wait.
  const obtain = () => new Promise((resolve) => setImmediate(resolve, { accessToken: 'a-token', lifetimeMs: 60_000 }))
  const instance = checking((header) => header === 'Bearer a-token')
  const contestant = contestants[name === AGAIN ? STATIC : name]
  const { get, close } = await contestant.onAxios({ instance, baseUrl: BASE_URL, obtain, lifetimeMs: 60_000 })
  const configs = configsOf(count, way)
  await collected()
  const startedAt = performance.now()
  const cpu = await cpuTime(() => Promise.all(configs.map((config) => get('/wallet', config))))
  const clock = performance.now() - startedAt
  await close?.()
  return { cpu, clock }
}

function configsOf(count, way) {
  return Array.from({ length: count }, () => (way === 'signals' ? { signal: new AbortController().signal } : undefined))
}

/**
 * Bytes of heap for each of `count` waiting requests. With the static header they wait for an answer, with the others for a token.
 *
 * @returns `plain`: without signals; `signals`: each caller has a signal of its own. Both: `{ static, beyond: { [name] } }`.
 */
export async function heapPerWaiter(count, rounds) {
  const names = [STATIC, AGAIN, ...renewing.map(({ name }) => name)]
  const heap = { count }
  for (const way of ['plain', 'signals']) {
    const taken = await interleaved({ rounds, contestants: names, measure: (name) => waiting(name, count, way) })
    const beyond = (name) => spread(taken.map((figures) => figures[name].bytes - figures[STATIC].bytes))
    heap[way] = {
      static: spread(taken.map((figures) => figures[STATIC].bytes)),
      beyond: Object.fromEntries(names.filter((name) => name !== STATIC).map((name) => [name, beyond(name)])),
    }
  }
  return heap
}

async function waiting(name, count, way) {
  const isStatic = name === STATIC || name === AGAIN
  // Without a reference to `resolve`, the garbage collector would free the promise and all that wait for it.
  const pending = []
  const held = () => new Promise((resolve) => pending.push(resolve))
  const obtain = isStatic ? async () => ({ accessToken: 'a token' }) : held
  const instance = isStatic ? silent(pending) : checking(() => false)
  const contestant = contestants[isStatic ? STATIC : name]
  const { get, close } = await contestant.onAxios({ instance, baseUrl: BASE_URL, obtain, lifetimeMs: 60_000 })
  // The signals are the caller's: made before, they do not count.
  const configs = configsOf(count, way)
  await collected()
  const before = heap()
  const requests = configs.map((config) => void get('/wallet', config).catch(() => undefined))
  // After these turns each request has come as far as it can.
  for (let n = 0; n < 20; n++) await turn()
  const bytes = (heap() - before) / requests.length
  await Promise.race([close?.(), turn()])
  pending.length = 0
  // Until here the callers keep their signals.
  configs.length = 0
  return { bytes }
}

/** Collects what the last contestant has left. That takes several steps: first a listener, then what it listened for. */
async function collected() {
  for (let n = 0; n < 3; n++) {
    heap()
    await turn()
  }
}

function turn() {
  return new Promise(setImmediate)
}
