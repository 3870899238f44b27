import { createRequire } from 'node:module'
import { createClient, createCluster, createSentinel } from 'redis'
import { Cluster, Redis } from 'ioredis'
import pg from 'pg'
import postgres from 'postgres'

const host = '127.0.0.1'
const quiet = (client) => client.on('error', () => undefined)
const url = (port) => `redis://${host}:${port}`

/** How each client connects to a server, a cluster or sentinels on the given ports. */
const CLIENTS = {
  'node-redis': {
    redis: async ([port]) => quiet(createClient({ url: url(port) })).connect(),
    cluster: async (ports) => {
      const client = quiet(createCluster({ rootNodes: ports.map((port) => ({ url: url(port) })) }))
      await client.connect()
      return client
    },
    sentinel: async (ports) => {
      const sentinelRootNodes = ports.map((port) => ({ host, port }))
      const client = quiet(createSentinel({ name: 'main', sentinelRootNodes }))
      await client.connect()
      return client
    },
  },
  ioredis: {
    redis: async ([port]) => quiet(new Redis(port, host)),
    cluster: async (ports) => quiet(new Cluster(ports.map((port) => ({ host, port })))),
    sentinel: async (ports) => quiet(new Redis({ name: 'main', sentinels: ports.map((port) => ({ host, port })) })),
  },
  pg: {
    postgres: async ([port]) => quiet(new pg.Pool({ host, port, user: 'app', database: 'postgres', max: 2 })),
  },
  postgres: {
    postgres: async ([port]) => {
      const sql = postgres({ host, port, user: 'app', database: 'postgres', max: 2, fetch_types: false })
      return { query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }
    },
  },
}

/** @param place `{ kind, ports, client }`, or `{ kind: 'sqlite', file, client }` @returns options of a store */
export async function connect({ kind, ports, client, file }) {
  if (client === 'better-sqlite3') return { database: new (betterSqlite())(file) }
  if (kind === 'sqlite') return { file }
  const reached = await CLIENTS[client][kind](ports)
  return kind === 'postgres' ? { pool: reached } : { client: reached }
}

/** It is compiled, so it has a folder of its own: `node scripts/lib/installed.mjs test/sqlite`. */
const betterSqlite = () =>
  createRequire(new URL('../../../test/sqlite/package.json', import.meta.url))('better-sqlite3')
