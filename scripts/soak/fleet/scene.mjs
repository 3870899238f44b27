// Real processes share one token through a real store, and real signals kill and freeze them. Needs redis-server, and signals: Linux or macOS.
// - Through Redis: [--seconds 60] [--cold 30] [--rounds 100] [--processes 20], and through PostgreSQL whose primary dies and is replaced by its
//   replica: [--promotions 3]. A part with 0 is left out.
// - `--on PLACE [--client CLIENT] [--processes 20] [--seconds 60] [--kills N]`: through another store, which is killed or restarted meanwhile.
// - `--on PLACE --rounds N`: processes are killed and frozen, and the server every tenth time; with postgres-failover the primary, each time.
// - `--on sqlite --troubles N [--client better-sqlite3]`: processes are killed and frozen, and the file is locked, deleted, replaced by a copy and made
//   unreadable, its disk full and read-only.
// SQLite needs Node 22.13, or npm gets Node 24. The seed decides at which steps a process falls, and chance decides which process.
import { dice } from '../../lib/dice.mjs'
import { startRedis } from '../../lib/redis-server.mjs'
import { cold } from './cold.mjs'
import { fileTroubles } from './file-troubles.mjs'
import { outage } from './outage.mjs'
import { peace } from './peace.mjs'
import { PLACES } from './places.mjs'
import { rounds } from './rounds.mjs'
import { topology } from './topology.mjs'

const REDIS = ['redis-aof', 'redis-rdb']
/** The places that each kind of run supports. */
const ON = {
  troubles: ['sqlite'],
  rounds: [...REDIS, 'postgres', 'postgres-failover', 'sqlite'],
  seconds: [...REDIS, 'redis-none', 'cluster', 'sentinel', 'postgres'],
}
/** The default clients. Other places use `node-redis`; `ioredis` is possible, too, and `postgres` instead of `pg`. */
const CLIENTS = { sqlite: 'node:sqlite', postgres: 'pg', 'postgres-failover': 'pg' }

export const options = {
  ...{ processes: 20, seconds: 60, rounds: Number, kills: 0, troubles: 0, cold: 30, promotions: 3 },
  ...{ on: String, client: String },
}

export function run(settings) {
  return settings.on === undefined && settings.troubles === 0 ? throughRedis(settings) : through(settings)
}

async function* throughRedis({ seconds, processes, seed, rounds: count = 100, cold: coldOnes, promotions }) {
  const redis = await startRedis()
  const redisUrl = redis.url
  const falls = { processes, dice: dice(seed) }
  try {
    if (seconds > 0) yield peace({ processes: 50, seconds, redisUrl })
    if (seconds > 0) yield outage({ seconds: Math.min(10, seconds), redis })
    if (coldOnes > 0) yield cold({ processes: coldOnes, redisUrl })
    if (count > 0) yield rounds({ ...falls, count, at: { redisUrl } })
  } finally {
    await redis.stop()
  }
  if (promotions > 0) yield roundsAt('postgres-failover', { ...falls, count: promotions })
}

async function* through({ on, client = CLIENTS[on] ?? 'node-redis', rounds: count = 0, troubles, seed, ...settings }) {
  const [what] = [troubles > 0 && 'troubles', count > 0 && 'rounds', 'seconds'].filter(Boolean)
  if (!ON[what].includes(on))
    throw new RangeError(`--on, with --${what}, takes one of ${ON[what].join(', ')}: got ${on}`)
  const { processes } = settings
  if (what === 'troubles') yield fileTroubles({ client, processes, count: troubles, dice: dice(seed) })
  else if (what === 'rounds') yield roundsAt(on, { client, processes, count, dice: dice(seed) })
  else yield topology({ ...settings, on, client })
}

/** Through a client that reports each step. */
async function roundsAt(on, { client = CLIENTS[on], ...falls }) {
  const store = await PLACES[on]()
  const { kind, ports, file, node } = store
  const at =
    kind === 'redis' ? { redisUrl: `redis://127.0.0.1:${ports[0]}` } : { place: { kind, ports, file, node, client } }
  return rounds({ ...falls, at, store })
}
