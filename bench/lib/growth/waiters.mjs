import { createTokenManager } from '../../evergreen.mjs'
import { cpuTime } from '../cpu.mjs'
import { heap } from '../heap.mjs'

/** So few waiters cost too little to be measured once: all sizes are measured with as many of them in all. */
const AT_LEAST = 5_000

/** `count` callers wait for one token call, each with a signal of its own, and get the token. */
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
