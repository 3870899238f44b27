// Many logins in one process over a real PostgreSQL: npm run --silent build && node scripts/many-logins.mjs [--logins 5000] [--pool 10] [--lifetime 40]
// [--seconds 60] [--start 1000]. `--start N`: N service accounts without a token start at once, instead. Prints what requests and steps came to.
import pg from 'pg'
import { parseArgs } from 'node:util'
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { postgres } from './soak/fleet/postgres-places.mjs'
import { library } from './soak/fleet/library.mjs'

const { createTokenManager, postgresStore } = library
const { values } = parseArgs({
  options: Object.fromEntries(
    ['logins', 'pool', 'lifetime', 'seconds', 'start'].map((name) => [name, { type: 'string' }]),
  ),
})
const read = (name, usual) => Number(values[name] ?? usual)
const lifetimeMs = read('lifetime', 40) * 1_000
const place = await postgres()
const pool = new pg.Pool({
  host: '127.0.0.1',
  port: place.ports[0],
  user: 'app',
  database: 'postgres',
  max: read('pool', 10),
  idleTimeoutMillis: 0,
})
let statements = 0
let inFlight = 0
let mostInFlight = 0
const counted = {
  options: pool.options,
  async query(...given) {
    statements += 1
    inFlight += 1
    mostInFlight = Math.max(mostInFlight, inFlight)
    return pool.query(...given).finally(() => (inFlight -= 1))
  },
}
const store = postgresStore({ pool: counted })
let calls = 0
const grant = async () => {
  calls += 1
  return { accessToken: `access-${calls}`, accessLifetimeMs: lifetimeMs, refreshToken: `refresh-${calls}` }
}
const source = { id: 'many', obtain: grant, refresh: grant }
const outages = new Set()
const manager = (n, of) => {
  const tokens = createTokenManager({ source: of, store, storeKey: `${process.pid}-${n}` })
  for (const name of ['anomaly', 'renewalFailed']) tokens.on(name, () => undefined)
  tokens.on('storeUnavailable', () => outages.add(n))
  return tokens
}

if (values.start) {
  const fleet = Array.from({ length: read('start') }, (_, n) => manager(n, source))
  const began = performance.now()
  const got = await Promise.allSettled(fleet.map((tokens) => tokens.getAccessToken()))
  const failed = got.filter(({ status }) => status === 'rejected').length
  const { rows } = await pool.query('SELECT count(*)::int AS records FROM evergreen_tokens')
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  told({ accounts: fleet.length, failed, outages: outages.size, ...rows[0], calls, seconds })
} else {
  const logins = read('logins', 5_000)
  const fleet = Array.from({ length: logins }, (_, n) => manager(n, { ...source, needsLogin: true }))
  const first = (n) => ({
    accessToken: `first-${n}`,
    accessLifetimeMs: lifetimeMs * (0.8 + n / logins),
    refreshToken: `r-${n}`,
  })
  const adopted = await Promise.allSettled(fleet.map((tokens, n) => tokens.adopt(first(n))))
  const notAdopted = adopted.filter(({ status }) => status === 'rejected').length
  statements = calls = 0
  const codes = {}
  let asked = 0
  let next = 0
  const end = performance.now() + read('seconds', 60) * 1_000
  while (performance.now() < end) {
    for (let n = 0; n < logins / 40; n += 1, next += 1, asked += 1)
      fleet[next % logins].getAccessToken().catch(({ code }) => (codes[code] = (codes[code] ?? 0) + 1))
    await pause(100)
  }
  told({ logins, notAdopted, asked, refused: codes, calls, stepsPerCall: (statements / calls).toFixed(2) })
}
process.exit(0)

function told(counts) {
  console.log(JSON.stringify({ ...counts, mostInFlight, load: loadavg()[0].toFixed(0) }))
}
