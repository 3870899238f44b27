// Crowds in one process: npm run build && node --expose-gc bench/crowds.mjs [managers] [waiters] [lifetime of a token, ms] [jitter]
// Measures the cost of managers that have a token, and of managers that renew; and how long the event loop is blocked while waiters get their token.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createTokenManager } from './evergreen.mjs'
import { cpuTime } from './lib/cpu.mjs'
import { accounts } from './lib/growth/accounts.mjs'

const MANAGERS = Number(process.argv[2] ?? 100_000)
const WAITERS = Number(process.argv[3] ?? 10_000)
/** All managers renew within this time: from the due instant of the first to that of the last. */
const LIFETIME_MS = Number(process.argv[4] ?? 60_000)
const JITTER = Number(process.argv[5] ?? 0.2)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const ms = (nanoseconds) => (nanoseconds / 1e6).toFixed(0)

/** The longest time for which the event loop was blocked, ms. A monitor with a resolution of 1 ms reports 1 ms of a loop at rest. */
async function delayIn(step) {
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  await pause(50)
  monitor.enable()
  const result = await step()
  await pause(50)
  monitor.disable()
  return { result, longest: ms(monitor.max), p99: ms(monitor.percentile(99)) }
}

const { total, bytes, timers } = await accounts(MANAGERS)
console.log(
  `${MANAGERS} managers with a token: ${bytes.toFixed(0)} bytes and ${timers.toFixed(2)} timers each, ${(total / MANAGERS).toFixed(0)} µs of processor time to create one and get its token`,
)

await renewals()
for (const withSignal of [false, true]) await waiters(withSignal)

/** Real time: each manager is used, and renews when its token is due. */
async function renewals() {
  let calls = 0
  const perSecond = new Map()
  const managers = Array.from({ length: MANAGERS }, (_, n) => {
    const obtain = async () => {
      const second = Math.floor(performance.now() / 1_000)
      perSecond.set(second, (perSecond.get(second) ?? 0) + 1)
      // A response comes in another turn of the event loop.
      await new Promise(setImmediate)
      return { accessToken: `token-${n}-${(calls += 1)}`, accessLifetimeMs: LIFETIME_MS }
    }
    return createTokenManager({ source: { id: `account-${n}`, obtain }, renewal: { jitter: JITTER } })
  })
  for (let n = 0; n < MANAGERS; n += 100) {
    await Promise.all(managers.slice(n, n + 100).map((tokens) => tokens.getAccessToken()))
    await pause(0)
  }
  const begun = calls
  perSecond.clear()
  let cpu
  const { longest, p99 } = await delayIn(async () => (cpu = await cpuTime(() => pause(LIFETIME_MS))))
  const renewed = calls - begun
  console.log(
    `${MANAGERS} managers for ${LIFETIME_MS / 1_000} s: ${renewed} renewals by their timers, at most ${Math.max(...perSecond.values())} in a second, ${(cpu / renewed).toFixed(0)} µs of processor time each; the event loop was blocked for ${p99} ms at the 99th percentile, ${longest} ms at most`,
  )
  await Promise.all(managers.map((tokens) => tokens.close()))
}

async function waiters(withSignal) {
  let open
  const held = new Promise((resolve) => (open = resolve))
  const tokens = createTokenManager({ source: { id: 'held', obtain: () => held } })
  const signals = withSignal ? Array.from({ length: WAITERS }, () => new AbortController().signal) : []
  let waits
  const begin = await delayIn(
    async () => (waits = Array.from({ length: WAITERS }, (_, n) => tokens.getAccessToken({ signal: signals[n] }))),
  )
  const end = await delayIn(async () => {
    open({ accessToken: 'token', accessLifetimeMs: 60_000 })
    await Promise.all(waits)
  })
  await tokens.close()
  console.log(
    `${WAITERS} waiters${withSignal ? ', each with a signal of its own' : ''}: the event loop was blocked for ${begin.longest} ms at most when they came, ${end.longest} ms when they got their token`,
  )
}
