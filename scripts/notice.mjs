// How soon a second process stops working as people who have logged out in the first one, and how often it reads the store for that:
// node scripts/notice.mjs [--on redis|sqlite|postgres] [--people 50] [--notice 1000]. Needs the built package (npm run build), and redis-server, or Node 22.13 for SQLite,
// or POSTGRES_URL.
import { createTokenManager } from 'axios-evergreen'
import { postgresStore, createTableStatement } from 'axios-evergreen/postgres'
import { redisStore } from 'axios-evergreen/redis'
import { sqliteStore } from 'axios-evergreen/sqlite'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createClient } from 'redis'
import { startRedis } from './lib/redis-server.mjs'

const HOUR_MS = 3_600_000
const options = { on: { type: 'string', default: 'redis' }, people: { type: 'string', default: '50' } }
const { values } = parseArgs({ options: { ...options, notice: { type: 'string', default: '1000' } } })
const [people, noticeWithinMs] = [Number(values.people), Number(values.notice)]

await (process.send ? second() : first())

async function first() {
  const redis = values.on === 'redis' ? await startRedis() : undefined
  const file = join(mkdtempSync(join(tmpdir(), 'evergreen-notice-')), 'logins.db')
  const where = { url: redis?.url ?? process.env.POSTGRES_URL, file }
  const { store, end } = await open(where)
  const managers = Array.from({ length: people }, (_, n) => managerOf(n, store))
  await Promise.all(
    managers.map((tokens, n) =>
      tokens.adopt({ accessToken: `a-${n}`, accessLifetimeMs: HOUR_MS, refreshToken: `r-${n}` }),
    ),
  )
  const other = fork(fileURLToPath(import.meta.url), process.argv.slice(2), {
    env: { ...process.env, WHERE: JSON.stringify(where) },
  })
  await once(other, 'message') // it works as everybody
  await new Promise((resolve) => setTimeout(resolve, 5 * noticeWithinMs))
  other.send('tell')
  const [{ reads, seconds }] = await once(other, 'message')
  // Half of the people log out, one after the other.
  const outAt = {}
  for (let n = 0; n < people / 2; n += 1) {
    await managers[n].logout()
    outAt[n] = Date.now()
  }
  await new Promise((resolve) => setTimeout(resolve, 3 * noticeWithinMs))
  other.send('tell')
  const [{ lastAt }] = await once(other, 'message')
  const lateMs = Object.entries(outAt).map(([n, at]) => lastAt[n] - at)
  const perWindow = (reads * noticeWithinMs) / (people * seconds * 1_000)
  console.log(
    `${values.on}: ${people} people, noticeWithinMs ${noticeWithinMs}: the last request as somebody who had logged out came ${Math.max(...lateMs)} ms after the logout`,
  )
  console.log(
    `${perWindow.toFixed(2)} steps of the store for each login in use and ${noticeWithinMs} ms; the others go on: ${Object.entries(lastAt).filter(([n, at]) => !(n in outAt) && Date.now() - at < 1_000).length} of ${people - Object.keys(outAt).length}`,
  )
  other.kill()
  await Promise.all(managers.map((tokens) => tokens.close()))
  await end()
  await redis?.stop()
}

async function second() {
  const counted = { steps: 0 } // not of SQLite, which has no client between
  const { store } = await open(JSON.parse(process.env.WHERE), counted)
  const managers = Array.from({ length: people }, (_, n) => managerOf(n, store))
  await Promise.all(managers.map((tokens) => tokens.getAccessToken()))
  const lastAt = {}
  const startedAt = Date.now()
  counted.steps = 0
  for (const [n, tokens] of managers.entries())
    setInterval(
      () =>
        void tokens.getAccessToken().then(
          () => (lastAt[n] = Date.now()),
          () => undefined,
        ),
      20,
    )
  process.send('works')
  process.on('message', () => process.send({ lastAt, reads: counted.steps, seconds: (Date.now() - startedAt) / 1_000 }))
}

function managerOf(n, store) {
  const obtain = () => Promise.reject(new Error('a login is never obtained'))
  const source = { id: 'logins', needsLogin: true, obtain, refresh: obtain }
  return createTokenManager({ source, store, storeKey: `person ${n}`, renewal: { noticeWithinMs } })
}

async function open({ url, file }, counted = { steps: 0 }) {
  const shared = { commandTimeoutMs: 2_000 }
  if (values.on === 'sqlite') return { store: sqliteStore({ file, ...shared }), end: async () => undefined }
  if (values.on === 'postgres') {
    const { default: pg } = await import('pg')
    const pool = new pg.Pool({ connectionString: url })
    await pool.query(createTableStatement())
    const query = (...args) => ((counted.steps += 1), pool.query(...args))
    return { store: postgresStore({ pool: { query }, ...shared }), end: () => pool.end() }
  }
  const client = await createClient({ url })
    .on('error', () => undefined)
    .connect()
  const command = (args) => ((counted.steps += 1), client.sendCommand(args))
  return { store: redisStore({ client: { command }, ...shared }), end: async () => client.destroy() }
}
