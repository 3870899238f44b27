import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { nodeWithSqlite } from '../../lib/node-sqlite.mjs'
import { startRedis, startSentinel } from '../../lib/redis-server.mjs'
import { newFolder } from './folders.mjs'
import { postgres, postgresPair } from './postgres-places.mjs'

/**
 * Starts a store that a fleet may share: `{ kind, ports, times, trouble }`. `trouble()` kills or restarts it, `times` times per run. A file has no
 * server. For a pair of servers: `{ kind, ports, part, promote }`.
 */
export const PLACES = {
  'redis-aof': () => alone('--appendonly', 'yes', '--save', ''),
  'redis-rdb': () => alone('--appendonly', 'no', '--save', '1 1'),
  'redis-none': () => alone('--appendonly', 'no', '--save', ''),
  cluster,
  sentinel,
  postgres,
  'postgres-failover': postgresPair,
  sqlite,
}

const cli = (port, ...args) => execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' })

async function alone(...args) {
  const server = await startRedis({ args })
  return {
    kind: 'redis',
    ports: [server.port],
    times: 3,
    async trouble() {
      await server.kill()
      await pause(500)
      await server.restart()
    },
  }
}

async function cluster() {
  const nodes = new Map()
  for (let n = 0; n < 6; n += 1) {
    const node = await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1500'] })
    nodes.set(node.port, node)
  }
  const ports = [...nodes.keys()]
  const all = ports.map((port) => `127.0.0.1:${port}`)
  execFileSync('redis-cli', ['--cluster', 'create', ...all, '--cluster-replicas', '1', '--cluster-yes'])
  while (ports.some((port) => !cli(port, 'CLUSTER', 'INFO').includes('cluster_state:ok'))) await pause(100)
  return {
    kind: 'cluster',
    ports,
    times: 1,
    async trouble() {
      const master = ports.find((port) => cli(port, 'ROLE').startsWith('master') && Number(cli(port, 'DBSIZE')) > 0)
      await nodes.get(master).kill()
    },
  }
}

async function sentinel() {
  const master = await startRedis()
  for (let n = 0; n < 2; n += 1) await startRedis({ args: ['--replicaof', `127.0.0.1 ${master.port}`] })
  const ports = []
  const settings = ['sentinel down-after-milliseconds main 1000', 'sentinel failover-timeout main 5000']
  for (let n = 0; n < 3; n += 1) ports.push((await startSentinel(master.port, { quorum: 2, settings })).port)
  while (ports.some((port) => !cli(port, 'SENTINEL', 'CKQUORUM', 'main').startsWith('OK 3'))) await pause(200)
  return { kind: 'sentinel', ports, times: 1, trouble: () => master.kill() }
}

async function sqlite() {
  const node = nodeWithSqlite()
  if (!node) throw new Error('This needs a Node with node:sqlite: 22.13 or newer.')
  return { kind: 'sqlite', node, file: join(newFolder(), 'tokens.db'), times: 0 }
}
