// Real processes share one token through a real Redis, and real signals kill and freeze them: npm run soak:fleet --
// [--rounds 100] [--processes 20] [--seconds 60] [--cold 30] [--promotions 3] [--seed N]. A part with 0 is left out. The last part needs PostgreSQL: its primary
// dies, and a replica takes its place. The same seed kills at the same steps, but chance decides which process is killed. Or processes share through another store, which is killed or restarted meanwhile:
// --on PLACE --client CLIENT [--processes 20] [--seconds 60] [--kills N]. PLACE is redis-aof, redis-rdb, redis-none, cluster or sentinel
// (CLIENT: node-redis, ioredis), or postgres (CLIENT: pg, postgres). `--on PLACE --rounds N` with redis-aof, redis-rdb, postgres or sqlite kills and
// freezes processes instead, and kills or restarts the server every tenth time; with postgres-failover an asynchronous replica takes the place of the
// primary, which is killed each time. SQLite needs Node 22.13, or npm gets Node 24.
// `--on sqlite --troubles N --client node:sqlite` (or better-sqlite3): processes are killed and frozen, and the file is locked, deleted, replaced by a
// copy and made unreadable, its disk full and read-only.
// Needs redis-server, and signals: Linux or macOS. The exit code is 0 only if every promise was kept.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { cold } from './fleet/cold.mjs'
import { fileTroubles } from './fleet/file-troubles.mjs'
import { outage } from './fleet/outage.mjs'
import { PLACES } from './fleet/places.mjs'
import { peace } from './fleet/peace.mjs'
import { rounds } from './fleet/rounds.mjs'
import { topology } from './fleet/topology.mjs'
import { dice } from './lib/dice.mjs'
import { startRedis } from './lib/redis-server.mjs'

const settings = read()
// On exit all processes of the fleet are killed, frozen or not.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const redis = settings.on ? undefined : await startRedis()
console.log(
  `Fleet soak of axios-evergreen: seed ${settings.seed}; Node ${process.version}, ${availableParallelism()} cores.`,
)
const parts = []
const forRounds = { processes: settings.processes, count: settings.rounds, dice: dice(settings.seed, 0) }
if (settings.troubles > 0)
  parts.push(() => fileTroubles({ ...settings, count: settings.troubles, dice: dice(settings.seed, 0) }))
else if (settings.on && settings.rounds > 0) parts.push(() => roundsAt(settings.on))
else if (settings.on) parts.push(() => topology(settings))
else if (settings.seconds > 0) {
  parts.push(() => peace({ processes: 50, seconds: settings.seconds, redisUrl: redis.url }))
  parts.push(() => outage({ seconds: Math.min(10, settings.seconds), redis }))
}
if (settings.cold > 0 && !settings.on) parts.push(() => cold({ processes: settings.cold, redisUrl: redis.url }))
if (settings.rounds > 0 && !settings.on) parts.push(() => rounds({ ...forRounds, at: { redisUrl: redis.url } }))
if (settings.promotions > 0 && !settings.on) parts.push(() => roundsAt('postgres-failover', settings.promotions))

let isGood = parts.length > 0
try {
  for (const part of parts) {
    for (const [isKept, what] of await part()) {
      console.log(`  ${isKept ? 'kept  ' : 'BROKEN'}  ${what.trim()}`)
      isGood &&= isKept
    }
  }
} finally {
  await redis?.stop()
}
console.log(`\n${isGood ? 'Everything held.' : 'BROKEN: see above.'} Again: --seed ${settings.seed}`)
process.exit(isGood ? 0 : 1)

async function roundsAt(on, count = settings.rounds) {
  const store = await PLACES[on]()
  const { kind, ports, file, node } = store
  // Through a client that tells of each step.
  const at =
    kind === 'redis'
      ? { redisUrl: `redis://127.0.0.1:${ports[0]}` }
      : { place: { kind, ports, file, node, client: settings.on ? settings.client : 'pg' } }
  return rounds({ ...forRounds, count, at, store })
}

function read() {
  const names = ['rounds', 'processes', 'seconds', 'cold', 'promotions', 'kills', 'troubles', 'seed', 'on', 'client']
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const { values } = parseArgs({ options })
  const { on, client = { sqlite: 'node:sqlite', postgres: 'pg', 'postgres-failover': 'pg' }[on] ?? 'node-redis' } =
    values
  const isForRounds = ['sqlite', 'postgres-failover'].includes(on)
  const isOutOfReach =
    values.troubles > 0
      ? on !== 'sqlite'
      : values.rounds > 0
        ? ['cluster', 'sentinel', 'redis-none'].includes(on)
        : isForRounds
  if (isOutOfReach) throw new RangeError(`--on ${on} is ${isForRounds ? 'only' : 'not'} for --rounds`)
  if (on !== undefined && !(on in PLACES)) throw new RangeError(`--on must be one of ${Object.keys(PLACES).join(', ')}`)
  const defaults = {
    rounds: on === undefined ? 100 : 0,
    processes: 20,
    seconds: 60,
    cold: 30,
    promotions: on === undefined ? 3 : 0,
    kills: 0,
    troubles: 0,
    seed: Math.floor(Math.random() * 2 ** 31),
  }
  const numbers = Object.fromEntries(
    Object.entries(defaults).map(([name, usual]) => {
      const value = Number(values[name] ?? usual)
      if (!Number.isInteger(value) || value < 0)
        throw new RangeError(`--${name} must be a whole number, got ${values[name]}`)
      return [name, value]
    }),
  )
  return { ...numbers, on, client }
}
