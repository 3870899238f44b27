// How often the owners of a million logins read the store, if the register notifies them of changes by key:
// npm run build && node --expose-gc bench/watched-logins.mjs [logins] [processes that are simulated]
// Each process serves 10 000 logins of its own (sticky sessions), with real managers, one store object, a register in memory and virtual time. It also receives
// the notifications for the logins of all other processes. So the counts of the processes add up, and a part of them shows the whole.
import { createTokenManager } from '../dist/index.js'
import { person } from '../dist/login.js'
import { sharedStore } from '../dist/store.js'
import { manualClock } from '../dist/testing.js'

const LOGINS = Number(process.argv[2] ?? 1_000_000)
const EACH = Math.min(10_000, LOGINS)
const PLAYED = Number(process.argv[3] ?? 10)
const HOURS = 2
/** Each login has a request this often. Without notifications, each of these requests would read the store. */
const REQUEST_MS = 300_000
const LIFETIME_MS = 3_600_000

const heap = () => (globalThis.gc?.(), process.memoryUsage().heapUsed)

/** @param {boolean} isWatching Whether the register notifies the process. */
async function live(logins, isWatching) {
  const clock = manualClock()
  const register = registerOf(clock, isWatching)
  const store = sharedStore(register)
  const before = heap()
  const managers = []
  for (let n = 0; n < logins; n += 1) {
    const options = { source: sourceOf(n), store, storeKey: `user ${n}`, clock, renewal: { keepWarm: 'never' } }
    managers.push(createTokenManager(options))
    await managers[n].adopt({ accessToken: `a${n}`, accessLifetimeMs: LIFETIME_MS, refreshToken: `r${n}` })
  }
  const bytes = (heap() - before) / logins - register.bytes() / logins
  register.reads = 0
  let failed = 0
  for (let at = 0; at < HOURS * 3_600_000; at += REQUEST_MS) {
    // Foreign changes of this time: each of the other processes' logins renews once an hour.
    if (isWatching)
      for (let n = 0; n < ((LOGINS - logins) * REQUEST_MS) / LIFETIME_MS; n += 1) register.notify(`other ${n}`)
    for (let n = 0; n < logins; n += 100)
      await Promise.all(managers.slice(n, n + 100).map((one) => one.getAccessToken().catch(() => (failed += 1))))
    await clock.advance(REQUEST_MS)
  }
  const renewals = managers.reduce((sum, one) => sum + one.status().counts.refreshes, 0)
  for (const one of managers) await one.close()
  // A renewal reads the record once itself.
  return { renewals, looks: register.reads - renewals, failed, bytes }
}

function registerOf(clock, isWatching) {
  const values = new Map()
  const watchers = new Set()
  const register = {
    kind: 'memory',
    reads: 0,
    bytes: () => [...values].reduce((sum, [key, value]) => sum + key.length + value.length, 0),
    notify: (key) => watchers.forEach((onChange) => onChange(key)),
    async read(key) {
      register.reads += 1
      return { now: clock.wallNow(), value: values.get(key) }
    },
    async replace(key, expected, value) {
      if (values.get(key) !== expected) return false
      values.set(key, value)
      if (isWatching) register.notify(key)
      return true
    },
    ...(isWatching && {
      watch: (onChange) => (watchers.add(onChange), () => watchers.delete(onChange)),
      isWatching: () => true,
    }),
  }
  return register
}

function sourceOf(id) {
  let issued = 0
  return {
    id: String(id),
    login: person,
    obtain: () => Promise.reject(new Error('nobody logs in again')),
    async refresh() {
      issued += 1
      return { accessToken: `a${id}-${issued}`, accessLifetimeMs: LIFETIME_MS, refreshToken: `r${id}-${issued}` }
    },
  }
}

const startedAt = process.cpuUsage()
const total = { renewals: 0, looks: 0, failed: 0 }
let bytes = 0
for (let n = 0; n < PLAYED; n += 1) {
  const one = await live(EACH, true)
  for (const name of Object.keys(total)) total[name] += one[name]
  if (n === 0) bytes = one.bytes
}
const few = await live(Math.min(1_000, EACH), false)
const { user, system } = process.cpuUsage(startedAt)
const played = PLAYED * EACH
console.log(
  `${LOGINS} logins, ${played} of them simulated, a request every ${REQUEST_MS / 60_000} min, tokens of 1 h, ${HOURS} h of virtual time`,
)
const perLogin = ({ looks, renewals, failed }, logins) =>
  `${looks / logins} checks and ${renewals / logins} renewals a login, ${failed} failed requests`
console.log(`watched:     ${perLogin(total, played)}`)
console.log(`not watched: ${perLogin(few, Math.min(1_000, EACH))}`)
console.log(`heap of a watched login: ${bytes.toFixed(0)} bytes, without its record (with --expose-gc)`)
console.log(`${((user + system) / 1e6).toFixed(0)} s of processor time`)
if (total.looks > total.renewals || total.failed > 0) process.exitCode = 1
