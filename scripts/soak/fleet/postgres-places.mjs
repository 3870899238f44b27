import { execFile, execFileSync } from 'node:child_process'
import { chownSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort, startServerProcess } from '../../lib/server-process.mjs'
import { newFolder } from './folders.mjs'
import { library } from './library.mjs'

const host = '127.0.0.1'
const OF_PRIMARY = 'database system is ready to accept connections'
const OF_REPLICA = 'ready to accept read-only connections'
/** Fifty processes have two connections each. */
const MOST_CONNECTIONS = '200'

/** A server that is restarted. */
export async function postgres() {
  const [port, data] = [await freePort(), await newData()]
  let server = await start(data, port)
  await query(port, library.createTableStatement())
  return {
    kind: 'postgres',
    ports: [port],
    times: 3,
    async trouble() {
      // Fast shutdown: PostgreSQL ends its connections.
      await server.end('SIGINT')
      server = await start(data, port)
    },
  }
}

/** A primary with an asynchronous replica, which replaces the primary, at the same address. Then the next replica is created. */
export async function postgresPair() {
  const port = await freePort()
  let primary = { data: await newData() }
  primary.server = await start(primary.data, port)
  await query(port, library.createTableStatement())
  let replica = await replicaOf(port)
  async function part() {
    await query(replica.port, `ALTER SYSTEM SET primary_conninfo = ''`)
    await query(replica.port, 'SELECT pg_reload_conf()')
    while ((await query(replica.port, 'SELECT FROM pg_stat_wal_receiver')).length > 0) await pause(20)
  }
  return {
    kind: 'postgres',
    ports: [port],
    /** The replica receives no further write. */
    part,
    /** Kills the primary and promotes the replica. @returns Whether writes that were acknowledged are lost. */
    async promote() {
      await part()
      const before = await textsAt(port)
      // Immediate shutdown: all processes of the server end at once.
      await primary.server.end('SIGQUIT')
      rmSync(primary.data, { recursive: true })
      await replica.server.end('SIGINT')
      primary = { data: replica.data, server: await start(replica.data, port, OF_REPLICA) }
      // From now on clients reach a replica, which rejects them until it is the primary.
      await run('pg_ctl', 'promote', '--wait', '-D', primary.data)
      const after = await textsAt(port)
      replica = await replicaOf(port)
      return before !== after
    },
  }
}

async function replicaOf(primaryPort) {
  const [port, data] = [await freePort(), ownedFolder()]
  const how = ['--no-sync', '--write-recovery-conf', '--checkpoint=fast', '--wal-method=stream']
  await run('pg_basebackup', '-D', data, ...how, '-h', host, '-p', String(primaryPort), '-U', 'app')
  return { port, data, server: await start(data, port, OF_REPLICA) }
}

function start(data, port, words = OF_PRIMARY) {
  const args = ['-D', data, '-h', host, '-p', String(port), '-k', '', '-N', MOST_CONNECTIONS]
  return startServerProcess(join(binaries(), 'postgres'), args, words, owner())
}

async function newData() {
  const data = ownedFolder()
  await run('initdb', '-D', data, '-A', 'trust', '-U', 'app', '--no-sync')
  return data
}

function ownedFolder() {
  const folder = newFolder()
  const { uid, gid } = owner()
  if (uid !== undefined) chownSync(folder, uid, gid)
  return folder
}

/** Not synchronous: this process is the service of the fleet, too. */
const run = (name, ...args) => promisify(execFile)(join(binaries(), name), args, owner())

function binaries() {
  const root = '/usr/lib/postgresql'
  const [version] = existsSync(root) ? readdirSync(root).sort().reverse() : []
  if (!version) throw new Error('This needs PostgreSQL: install it (Debian: apt-get install postgresql).')
  return join(root, version, 'bin')
}

/** The user who runs the servers: PostgreSQL does not run as root. */
function owner() {
  if (process.getuid() !== 0) return { cwd: '/' }
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { cwd: '/', uid: id('-u'), gid: id('-g') }
}

/** Which texts a server holds. */
const textsAt = async (port) =>
  JSON.stringify(await query(port, 'SELECT key, md5(value) FROM evergreen_tokens ORDER BY key'))

async function query(port, statement) {
  const client = new pg.Client({ host, port, user: 'app', database: 'postgres' })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
