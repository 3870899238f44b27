import { checking, silent, BASE_URL } from './in-process-api.mjs'
import { AGAIN, contestants, renewing, STATIC } from './contestants.mjs'
import { interleaved, spread } from './rounds.mjs'

/** Bytes of heap for each of `count` requests that wait: for an answer with the static header, for a token with the others. */
export async function heapPerWaiter(count, rounds) {
  const names = [STATIC, AGAIN, ...renewing.map(({ name }) => name)]
  const taken = await interleaved({ rounds, contestants: names, measure: (name) => waiting(name, count) })
  const beyondPlain = (name) => taken.map((figures) => figures[name].bytes - figures[STATIC].bytes)
  const plain = spread(taken.map((figures) => figures[STATIC].bytes))
  return { count, plain, beyondPlain: Object.fromEntries(names.map((name) => [name, spread(beyondPlain(name))])) }
}

async function waiting(name, count) {
  const isStatic = name === STATIC || name === AGAIN
  // What nobody could ever settle would be collected, with all that wait for it.
  const pending = []
  const held = () => new Promise((resolve) => pending.push(resolve))
  const obtain = isStatic ? async () => ({ accessToken: 'a token' }) : held
  const instance = isStatic ? silent(pending) : checking(() => false)
  const contestant = contestants[isStatic ? STATIC : name]
  const { get, close } = await contestant.onAxios({ instance, baseUrl: BASE_URL, obtain, lifetimeMs: 60_000 })
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  const requests = Array.from({ length: count }, () => void get('/wallet').catch(() => undefined))
  // Until each has come as far as it can.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  globalThis.gc()
  const bytes = (process.memoryUsage().heapUsed - before) / requests.length
  await Promise.race([close?.(), new Promise(setImmediate)])
  pending.length = 0
  return { bytes }
}
