import { execFile, execFileSync } from 'node:child_process'
import { chmodSync, existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { nodeWithSqlite } from '../../lib/node-sqlite.mjs'
import { Fleet } from './fleet.mjs'
import { newFolder } from './folders.mjs'
import { recovered } from './rounds.mjs'
import { failuresIn } from './verdict.mjs'
import { startWatchedService } from './watched-service.mjs'

/** How long a process may take to get the next token after a trouble. */
const LIMIT_MS = 60_000
const TROUBLE_MS = 2_000
const isRoot = process.getuid?.() === 0

/**
 * Processes of one machine share a file, and the file or the processes meet `count` troubles.
 *
 * @param client `node:sqlite` (a store with `file`) or `better-sqlite3` (with `database`).
 * @returns what was expected, each with whether it held.
 */
export async function fileTroubles({ client, processes, count, dice }) {
  console.log(`\n${processes} processes with ${client} on one file, tokens of 3 s, and ${count} troubles.`)
  const disk = smallDisk()
  const file = join(disk.folder, 'tokens.db')
  const node = nodeWithSqlite()
  const isGiven = client === 'better-sqlite3'
  const place = { kind: 'sqlite', client, file, ...(!isGiven && { node }) }
  const watched = await startWatchedService({ accessLifetimeMs: 3_000, latencyMs: 40 })
  const fleet = new Fleet({ watched, place, everyMs: 200, exchangeTimeoutMs: 2_000, commandTimeoutMs: 2_000 })
  await fleet.grow(processes)
  const met = []
  const hung = []
  const done = new Map()
  // Each kind occurs once, then again in another order.
  const kinds = troubles({ fleet, file, node, disk, dice })
  let left = []
  for (let n = 1; n <= count; n += 1) {
    if (left.length === 0) left = Object.keys(kinds)
    const [name] = left.splice(dice.whole(0, left.length - 1), 1)
    const outcome = (await kinds[name]()) ?? 'done'
    done.set(`${name} (${outcome})`, (done.get(`${name} (${outcome})`) ?? 0) + 1)
    met.push(...(await fleet.reports()))
    // If the file of a database is gone, the error requires a restart of the process.
    if (isGiven && ['deleted', 'replaced by a copy'].includes(name)) await fleet.restart(fleet.awake.length)
    await fleet.grow(processes - fleet.workers.length)
    const after = await recovered(fleet, LIMIT_MS)
    met.push(...after.met)
    hung.push(...after.hung.map((worker) => `${worker} after '${name}'`))
    console.log(`${String(n).padStart(5)}  ${name}: ${outcome}`)
  }
  await fleet.end()
  await watched.close()
  disk.remove()
  const { failures, late } = failuresIn(met, watched)
  const suspicions = met.flatMap((one) => one.suspicions)
  const unexplained = suspicions.filter((evidence) => evidence === 'unexplained')
  const twice = watched.twice()
  const served = met.reduce((sum, one) => sum + one.served, 0)
  return [
    [hung.length === 0, `${hung.length} processes hung ${hung.join()}`],
    [twice.length === 0, `${watched.presented.size} refresh tokens were presented, ${twice.length} of them twice`],
    [unexplained.length === 0, `${unexplained.length} of ${suspicions.length} suspicions were unexplained`],
    [fleet.crashes.length === 0, `${fleet.crashes.length} processes ended by themselves ${fleet.crashes.join()}`],
    [failures.length === 0, `${served} requests were served, ${failures.length} failed ${failures.join()}`],
    [true, `${late} requests were on their way until both of their tokens had ended`],
    [true, `${watched.calls} token calls; ${[...done].map(([name, times]) => `${times} × ${name}`).join(', ')}`],
  ]
}

/** Each resolves when the trouble is over, with what happened instead if the trouble was not possible. */
function troubles({ fleet, file, node, disk, dice }) {
  const some = () => fleet.awake.filter(() => dice.happens(0.4))
  return {
    async killed() {
      for (const { child } of some()) child.kill('SIGKILL')
      await pause(TROUBLE_MS / 10)
    },
    async frozen() {
      for (const worker of some()) {
        worker.isFrozen = true
        worker.falls()
        worker.child.kill('SIGSTOP')
      }
      await pause(2 * TROUBLE_MS)
      fleet.thaw()
    },
    async locked() {
      const program = `const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})
        database.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${2 * TROUBLE_MS})`
      await new Promise((resolve) => execFile(node, ['-e', program], resolve))
    },
    'disk full': async () => {
      if (!disk.isSmall) return 'left out: only root can mount a small disk'
      const all = join(disk.folder, 'all')
      for (let size = 1 << 20; size >= 1; size >>= 1) grow(all, size)
      await pause(TROUBLE_MS)
      rmSync(all)
    },
    'read-only': async () => {
      if (!disk.isSmall) return 'left out: only root can mount a small disk'
      try {
        execFileSync('mount', ['-o', 'remount,ro', disk.folder], { stdio: 'ignore' })
      } catch {
        return 'refused by the system: files are open'
      }
      await pause(TROUBLE_MS)
      execFileSync('mount', ['-o', 'remount,rw', disk.folder])
    },
    async deleted() {
      for (const end of dice.happens(0.5) ? ['', '-wal', '-shm'] : ['']) rmSync(file + end, { force: true })
      await pause(TROUBLE_MS)
    },
    'replaced by a copy': async () => {
      if (!existsSync(file)) return 'left out: no file'
      const program = `const database = new (require('node:sqlite').DatabaseSync)(${JSON.stringify(file)})
        database.exec("PRAGMA busy_timeout = 5000; VACUUM INTO '${file}.copy'")`
      execFileSync(node, ['-e', program], { stdio: 'ignore' })
      await pause(2 * TROUBLE_MS)
      for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true })
      renameSync(`${file}.copy`, file)
      await pause(TROUBLE_MS)
    },
    chmod: async () => {
      if (isRoot) return 'left out: root may do everything'
      chmodSync(file, 0o000)
      chmodSync(disk.folder, 0o500)
      await pause(TROUBLE_MS)
      chmodSync(disk.folder, 0o700)
      if (existsSync(file)) chmodSync(file, 0o600)
    },
  }
}

/** A folder, for root a disk of its own, which can be full. */
function smallDisk() {
  const folder = newFolder()
  const mount = () => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', folder], { stdio: 'ignore' })
  let isSmall = false
  try {
    mount()
    isSmall = true
  } catch {
    // Not permitted.
  }
  let isMounted = isSmall
  const remove = () => {
    if (isMounted) execFileSync('umount', ['-l', folder])
    isMounted = false
  }
  process.once('exit', remove)
  return { folder, isSmall, remove }
}

function grow(file, bytes) {
  for (;;) {
    try {
      writeFileSync(file, Buffer.alloc(bytes), { flag: 'a' })
    } catch {
      return
    }
  }
}
