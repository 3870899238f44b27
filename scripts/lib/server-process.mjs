// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set()
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** @typedef {Awaited<ReturnType<typeof startServerProcess>>} ServerProcess */

/**
 * Starts a server as a process of its own, and waits until it has printed `words`. The server ends with this process at the latest.
 *
 * @param {string} name
 * @param {string[]} args
 * @param {string} words
 * @param {import('node:child_process').SpawnOptions} options
 * @throws when the server cannot be started, or ends before that.
 */
export async function startServerProcess(name, args, words, options = {}) {
  const child = spawn(name, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  /** @type {Promise<void>} */
  const exited = new Promise((resolve) => {
    child.once('exit', () => {
      children.delete(child)
      resolve()
    })
  })
  await new Promise((resolve, reject) => {
    let printed = ''
    const heard = (/** @type {Buffer} */ chunk) => {
      printed = (printed + chunk.toString()).slice(-2_000)
      if (printed.includes(words)) resolve(undefined)
    }
    child.stdout.on('data', heard)
    child.stderr.on('data', heard)
    child.once('error', reject)
    void exited.then(() => reject(new Error(`${name} ended: ${printed.slice(-500)}`)))
  })
  return {
    /** @param {NodeJS.Signals} signal A signal that ends the server. */
    async end(signal = 'SIGKILL') {
      child.kill(signal)
      await exited
    },
    /** Until `thaw` the server neither accepts nor rejects a connection. */
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  }
}

/** @returns A port that is free on loopback. Another process may still take it first. */
export async function freePort() {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    server.close()
    await once(server, 'close')
    // A node of a Redis Cluster also uses the port 10 000 above.
    if (port < 55_000) return port
  }
}
