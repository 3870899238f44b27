import { createTokenManager } from '../../evergreen.mjs'
import { cpuTime } from '../cpu.mjs'
import { heap } from '../heap.mjs'

/** Few waiters cost too little to measure. Small sizes are repeated until there were this many waiters in all. */
const AT_LEAST = 5_000

/** Measures `count` callers who wait for one token call, each with a signal of its own, and get the token. */
export async function waiters(count) {
  const repeats = Math.ceil(AT_LEAST / count)
  let [total, bytes] = [0, 0]
  for (let time = 0; time < repeats; time++) {
    let open
    const held = new Promise((resolve) => (open = resolve))
    const tokens = createTokenManager({ source: { id: 'held', obtain: () => held } })
    const signals = Array.from({ length: count }, () => new AbortController().signal)
    const waits = new Array(count)
    const isFirst = time === 0
    const before = isFirst && heap()
    total += await cpuTime(() => {
      for (let n = 0; n < count; n++) waits[n] = tokens.getAccessToken({ signal: signals[n] })
    })
    if (isFirst) bytes = heap() - before
    total += await cpuTime(() => {
      open({ accessToken: 'token', accessLifetimeMs: 60_000 })
      return Promise.all(waits)
    })
    await tokens.close()
  }
  return { total: total / repeats, bytes: bytes / count }
}
