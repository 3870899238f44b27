import { afterAll, beforeAll, describe } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { freePort } from './free-port.ts'

/** For suites with a server of their own: skipped, with a line from the setup that says so, where there is none. */
export const describeRedis = process.env.TEST_REDIS === 'own' ? describe : describe.skip

/** For suites that keep to keys of their own: `REDIS_URL` will do. */
export const describeSharedRedis = process.env.TEST_REDIS === 'none' ? describe.skip : describe

/** Where those suites find one. */
async function findRedis(): Promise<Pick<RedisServer, 'url' | 'stop'>> {
  const { TEST_REDIS, REDIS_URL = '' } = process.env
  return TEST_REDIS === 'own' ? startRedis() : { url: REDIS_URL, stop: async () => undefined }
}

/** Connects the suite around it to a server. @returns What runs one command there. */
export function redisOfSuite(find: typeof findRedis = findRedis): (args: string[]) => Promise<unknown> {
  let server: Awaited<ReturnType<typeof findRedis>>
  let client: ReturnType<typeof createClient>
  beforeAll(async () => {
    server = await find()
    client = createClient({ url: server.url })
    await client.connect()
  })
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })
  return (args) => client.sendCommand(args)
}

export interface RedisServer {
  readonly port: number
  readonly url: string
  readonly process: ChildProcess
  /** Runs one command on a connection of its own. */
  command(...args: string[]): Promise<unknown>
  stop(): Promise<void>
}

/** A private server on a random port of loopback, without persistence. */
export async function startRedis(settings: { port?: number; args?: string[] } = {}): Promise<RedisServer> {
  for (let attempt = 1; ; attempt += 1) {
    const port = settings.port ?? (await freePort())
    try {
      return await started(port, settings.args ?? [])
    } catch (error) {
      // Another process may have taken the port in the meantime.
      if (attempt >= 5) throw error
    }
  }
}

async function started(port: number, args: string[]): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'evergreen-redis-'))
  const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder]
  const child = spawn('redis-server', [...where, '--save', '', '--appendonly', 'no', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await ready(child, exited)
  const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } })
  client.on('error', () => undefined)
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: child,
    async command(...given) {
      if (!client.isOpen) await client.connect()
      return client.sendCommand(given)
    },
    async stop() {
      client.destroy()
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Watches the server at `masterPort`, which it calls `main`. */
export async function startSentinel(masterPort: number) {
  const folder = await mkdtemp(join(tmpdir(), 'evergreen-sentinel-'))
  const port = await freePort()
  const file = join(folder, 'sentinel.conf')
  await writeFile(
    file,
    `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor main 127.0.0.1 ${masterPort} 1\n`,
  )
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await ready(child, exited, '+monitor master main')
  return {
    port,
    async stop() {
      child.kill('SIGKILL')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function ready(child: ChildProcess, exited: Promise<void>, words = 'Ready to accept connections'): Promise<void> {
  return new Promise((resolve, reject) => {
    let printed = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes(words)) resolve()
    })
    void exited.then(() => reject(new Error(`redis-server ended: ${printed.slice(-300)}`)))
  })
}
