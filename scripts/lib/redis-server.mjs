// @ts-check
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from 'redis'
import { freePort, startServerProcess } from './server-process.mjs'

/** `VALKEY_SERVER` is the path of a valkey-server, which is then used instead of Redis. */
export const REDIS_SERVER = process.env.VALKEY_SERVER ?? 'redis-server'

const MISSING = `There is no ${REDIS_SERVER} on PATH (Debian: apt-get install redis-server).`

/** @typedef {Awaited<ReturnType<typeof startRedis>>} RedisServer */

/**
 * A private Redis on loopback. Without arguments it stores nothing.
 *
 * @param {{ args?: string[] }} settings `args`: of redis-server.
 * @throws when there is no redis-server on PATH.
 */
export async function startRedis({ args = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'evergreen-redis-'))
  const stored = ['--dir', folder, '--save', '', '--appendonly', 'no']
  // Otherwise a new replica waits 5 s for other new replicas.
  const given = ['--bind', '127.0.0.1', '--repl-diskless-sync-delay', '0', ...stored, ...args]
  const start = (/** @type {number} */ port) =>
    startServerProcess(REDIS_SERVER, ['--port', String(port), ...given], 'Ready to accept connections')
  let { port, server } = await onFreePort(start)
  const url = `redis://127.0.0.1:${port}`
  const client = createClient({ url, socket: { reconnectStrategy: false } }).on('error', () => undefined)
  return {
    port,
    url,
    /**
     * Runs one command, on a connection of its own.
     *
     * @param {string[]} words
     * @returns {Promise<unknown>}
     */
    async command(...words) {
      if (!client.isOpen) await client.connect()
      return client.sendCommand(words)
    },
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
    /** Ends the server at once. Its files remain, for `restart`. */
    kill: () => server.end(),
    /** Starts the server again after `kill`: the same port, folder and arguments. */
    async restart() {
      server = await start(port)
    },
    /** Ends the server, and removes its files. */
    async stop() {
      client.destroy()
      await server.end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * A Sentinel that watches the server at `masterPort`, which it calls `main`.
 *
 * @param {number} masterPort
 * @param {{ quorum?: number, settings?: string[] }} options `settings`: lines of its file.
 */
export async function startSentinel(masterPort, { quorum = 1, settings = [] } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'evergreen-sentinel-'))
  const file = join(folder, 'sentinel.conf')
  const { port, server } = await onFreePort(async (port) => {
    const watches = `sentinel monitor main 127.0.0.1 ${masterPort} ${quorum}`
    const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, watches, ...settings]
    await writeFile(file, `${lines.join('\n')}\n`)
    return startServerProcess(REDIS_SERVER, [file, '--sentinel'], '+monitor master main')
  })
  return {
    port,
    async stop() {
      await server.end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** @param {(port: number) => Promise<import('./server-process.mjs').ServerProcess>} start */
async function onFreePort(start) {
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort()
    try {
      return { port, server: await start(port) }
    } catch (error) {
      const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (isMissing) throw new Error(MISSING, { cause: error })
      // Another process may have taken the port in the meantime.
      if (attempt >= 5) throw error
    }
  }
}
