import { describe } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../scripts/lib/server-process.mjs'
import { stoppedWithFile } from './stopped.ts'

/** For suites with their own server. Without PostgreSQL they are skipped, and the setup prints a line. */
export const describePostgres = process.env.TEST_POSTGRES === 'own' ? describe : describe.skip

/** For suites that use only their own schema: the server at `POSTGRES_URL` is enough. */
export const describeSharedPostgres = process.env.TEST_POSTGRES === 'shared' ? describe : describePostgres

/** Finds a server for suites that can share one. */
export async function findPostgres(): Promise<Pick<PostgresServer, 'url' | 'stop'>> {
  const { TEST_POSTGRES, POSTGRES_URL = '' } = process.env
  return TEST_POSTGRES === 'own' ? startPostgres() : { url: POSTGRES_URL, stop: async () => undefined }
}

export interface PostgresServer {
  readonly port: number
  /** URL with the superuser, who needs no password. */
  readonly url: string
  readonly process: ChildProcess
  /** Promotes a replica to the primary. Resolves when it accepts writes. */
  promote(): Promise<void>
  stop(): Promise<void>
}

/** The role `guarded` and its members need a password; other roles do not. */
const ACCESS = `host all +guarded 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
host replication all 127.0.0.1/32 trust
`

/** The data need not survive a crash, and there is little of it. */
const SETTINGS = { fsync: 'off', shared_buffers: '16MB', autovacuum: 'off', unix_socket_directories: '' }

/**
 * A private server on a random port of loopback, with its own data. It starts in about two seconds.
 *
 * @param how `replicaOf`: the server is an asynchronous replica of that one. `backupOf`: the server recovers a backup of that one, as of now.
 */
export async function startPostgres({ replicaOf, backupOf = replicaOf }: Origin = {}): Promise<PostgresServer> {
  const data = await mkdtemp(join(dataOfRun(), 'server-'))
  const user = await userOfRun()
  if (user) await chown(data, user.uid, user.gid)
  if (backupOf) {
    const how = [
      '--no-sync',
      '--checkpoint=fast',
      '--wal-method=stream',
      ...(replicaOf ? ['--write-recovery-conf'] : []),
    ]
    await ended(run('pg_basebackup', ['--pgdata', data, ...how, '--dbname', backupOf.url], user))
    if (!replicaOf) await recoverIn(data, user)
  } else {
    const how = ['--no-sync', '--auth=trust', '--username=evergreen', '--locale=C', '--encoding=UTF8']
    await ended(run('initdb', ['--pgdata', data, ...how], user))
  }
  await writeFile(join(data, 'pg_hba.conf'), ACCESS)
  for (let attempt = 1; ; attempt += 1) {
    try {
      return stoppedWithFile(await started(data, await freePort(), user))
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (attempt >= 5) throw error
    }
  }
}

interface Origin {
  readonly replicaOf?: PostgresServer
  readonly backupOf?: PostgresServer
}

/** The next start recovers the backup up to the end of its log. There is no archive. */
async function recoverIn(data: string, user?: Ids): Promise<void> {
  await appendFile(join(data, 'postgresql.auto.conf'), `restore_command = 'false'\n`)
  const signal = join(data, 'recovery.signal')
  await writeFile(signal, '')
  if (user) await chown(signal, user.uid, user.gid)
}

async function started(data: string, port: number, user?: Ids): Promise<PostgresServer> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = run('postgres', ['-D', data, '-h', '127.0.0.1', '-p', String(port), ...settings], user)
  const exited = once(child, 'exit')
  await new Promise<void>((resolve, reject) => {
    let printed = ''
    child.stderr.on('data', (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-2_000)
      // A replica is ready to accept read-only connections.
      if (/ready to accept (read-only )?connections/.test(printed)) resolve()
    })
    exited.then(() => reject(new Error(`postgres ended: ${printed}`)), reject)
  })
  return {
    port,
    url: `postgres://evergreen@127.0.0.1:${port}/postgres`,
    process: child,
    promote: () => ended(run('pg_ctl', ['promote', '--wait', '--pgdata', data], user)),
    async stop() {
      // SIGQUIT ends all processes of the server at once.
      child.kill('SIGQUIT')
      await exited
      await rm(data, { recursive: true, force: true })
    },
  }
}

interface Ids {
  readonly uid: number
  readonly gid: number
}

/** The user who runs the servers instead of root. */
async function userOfRun(): Promise<Ids | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const { uid, gid } = await stat(dataOfRun())
  return { uid, gid }
}

function run(name: string, args: string[], user?: Ids) {
  const env = { ...process.env, LC_ALL: 'C' }
  const file = join(process.env.TEST_POSTGRES_BINARIES!, name)
  return spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe'], env, ...user })
}

async function ended(child: ReturnType<typeof run>): Promise<void> {
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code}: ${printed}`)
}

const dataOfRun = () => process.env.TEST_POSTGRES_DATA!
