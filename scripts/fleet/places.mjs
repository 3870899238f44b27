import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { setTimeout as pause } from 'node:timers/promises'
import { library } from './library.mjs'

const children = new Set()
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** Where a fleet may share: how it starts, and what is done to it. Each answers `{ kind, ports, trouble }`. */
export const PLACES = {
  'redis-aof': () => alone('--appendonly', 'yes', '--save', ''),
  'redis-rdb': () => alone('--appendonly', 'no', '--save', '1 1'),
  'redis-none': () => alone('--appendonly', 'no', '--save', ''),
  cluster,
  sentinel,
  postgres,
}

async function freePort() {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address()
    server.close()
    await once(server, 'close')
    // A cluster uses the port 10 000 above as well.
    if (port < 55_000) return port
  }
}

const folder = () => mkdtempSync(join(tmpdir(), 'evergreen-soak-'))

async function started(name, args, words, options = {}) {
  const child = spawn(name, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  children.add(child)
  child.once('exit', () => children.delete(child))
  await new Promise((resolve, reject) => {
    let printed = ''
    const heard = (chunk) => (printed += chunk).includes(words) && resolve()
    child.stdout.on('data', heard)
    child.stderr.on('data', heard)
    child.once('error', reject)
    child.once('exit', () => reject(new Error(`${name} ended: ${printed.slice(-500)}`)))
  })
  return child
}

async function redis(port, dir, ...args) {
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir]
  return started('redis-server', [...where, ...args], 'Ready to accept connections')
}

async function killed(child, signal = 'SIGKILL') {
  child.kill(signal)
  await once(child, 'exit')
}

const cli = (port, ...args) => execFileSync('redis-cli', ['-p', String(port), ...args], { encoding: 'utf8' })

async function alone(...args) {
  const [port, dir] = [await freePort(), folder()]
  let server = await redis(port, dir, ...args)
  return {
    kind: 'redis',
    ports: [port],
    version: () => /redis_version:(\S+)/.exec(cli(port, 'INFO', 'server'))[1],
    times: 3,
    async trouble() {
      await killed(server)
      await pause(500)
      server = await redis(port, dir, ...args)
    },
  }
}

async function cluster() {
  const nodes = new Map()
  for (let n = 0; n < 6; n += 1) {
    const port = await freePort()
    const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1500', '--save', '', '--appendonly', 'no']
    nodes.set(port, await redis(port, folder(), ...args))
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
      await killed(nodes.get(master))
    },
  }
}

async function sentinel() {
  const [master, ...replicas] = [await freePort(), await freePort(), await freePort()]
  const server = await redis(master, folder(), '--save', '')
  for (const port of replicas) await redis(port, folder(), '--save', '', '--replicaof', `127.0.0.1 ${master}`)
  const ports = []
  for (let n = 0; n < 3; n += 1) {
    const [port, dir] = [await freePort(), folder()]
    const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${dir}`, `sentinel monitor main 127.0.0.1 ${master} 2`]
    lines.push('sentinel down-after-milliseconds main 1000', 'sentinel failover-timeout main 5000')
    writeFileSync(join(dir, 'sentinel.conf'), `${lines.join('\n')}\n`)
    await started('redis-server', [join(dir, 'sentinel.conf'), '--sentinel'], '+monitor master')
    ports.push(port)
  }
  while (ports.some((port) => !cli(port, 'SENTINEL', 'CKQUORUM', 'main').startsWith('OK 3'))) await pause(200)
  return { kind: 'sentinel', ports, times: 1, trouble: () => killed(server) }
}

async function postgres() {
  const [version] = readdirSync('/usr/lib/postgresql').sort().reverse()
  const binaries = `/usr/lib/postgresql/${version}/bin`
  if (!existsSync(binaries)) throw new Error('This needs PostgreSQL: install it (Debian: apt-get install postgresql).')
  const [port, dir] = [await freePort(), folder()]
  // It does not run as root.
  const isRoot = process.getuid() === 0
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  const as = isRoot ? { uid: id('-u'), gid: id('-g'), cwd: '/' } : { cwd: '/' }
  if (isRoot) chownSync(dir, as.uid, as.gid)
  execFileSync(join(binaries, 'initdb'), ['-D', join(dir, 'data'), '-A', 'trust', '-U', 'app', '--no-sync'], {
    ...as,
    stdio: 'ignore',
  })
  const args = ['-D', join(dir, 'data'), '-h', '127.0.0.1', '-p', String(port), '-k', '']
  const start = () => started(join(binaries, 'postgres'), args, 'ready to accept connections', as)
  let server = await start()
  await createTable(port)
  return {
    kind: 'postgres',
    ports: [port],
    times: 3,
    async trouble() {
      // Fast shutdown: its connections are ended.
      await killed(server, 'SIGINT')
      server = await start()
    },
  }
}

async function createTable(port) {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'app', database: 'postgres' })
  await pool.query(library.createTableStatement())
  await pool.end()
}
