// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** @type {Set<import('node:child_process').ChildProcess>} */
const children = new Set()
process.once('exit', () => children.forEach((child) => child.kill('SIGKILL')))

/** @typedef {Awaited<ReturnType<typeof startServerProcess>>} ServerProcess */

/**
 * A server as a process of its own, ready once it has printed `words`. It ends with this process at the latest.
 *
 * @param {string} name
 * @param {string[]} args
 * @param {string} words
 * @param {import('node:child_process').SpawnOptions} options
 * @throws when it cannot be started, or ends before that.
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
    /** @param {NodeJS.Signals} signal One that ends it. */
    async end(signal = 'SIGKILL') {
      child.kill(signal)
      await exited
    },
    /** It answers nobody until `thaw`, and refuses nobody. */
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  }
}

/** On loopback. Another process may take it before it is used. */
export async function freePort() {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    server.close()
    await once(server, 'close')
    // A cluster of Redis uses the port 10 000 above as well.
    if (port < 55_000) return port
  }
}
