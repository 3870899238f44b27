// @ts-check
// Several processes of one machine that share one login to an MCP server.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startMcpWorld } from './world.mjs'

const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url))
/** The processes load the same files. Node 20 has no such cache. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url))

/** @param {{ node: string, dist: string, redis?: string, isAlone?: boolean, exchangeTimeoutMs?: number }} how `isAlone`: the SDK without this package. */
export async function startFleet({ node, dist, redis, ...how }) {
  const world = await startMcpWorld()
  const folder = mkdtempSync(join(tmpdir(), 'mcp-'))
  /** @type {Set<import('node:child_process').ChildProcess>} */
  const children = new Set()

  /** Starts a process, up to the point of its call. @param {object} [more] */
  async function agent(more) {
    const store = redis === undefined ? { file: join(folder, 'login.db') } : { redis }
    const told = { url: world.serverUrl.href, dist, store, keeps: join(folder, 'provider.json'), ...how, ...more }
    const child = spawn(node, [AGENT], {
      env: { ...process.env, AGENT: JSON.stringify(told), NODE_NO_WARNINGS: '1', NODE_COMPILE_CACHE },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    children.add(child)
    let printed = ''
    /** @type {() => void} */
    let news = () => undefined
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => ((printed += text), news()))
    const ended = new Promise((resolve) =>
      child.on('close', () => {
        children.delete(child)
        news()
        resolve(
          printed
            .split('\n')
            .filter((line) => line && line !== 'ready')
            .join(' '),
        )
      }),
    )
    /** Waits until it has printed this line, or has ended. @param {RegExp} line */
    const says = async (line) => {
      while (!line.test(printed) && children.has(child))
        await new Promise((resolve) => (news = () => resolve(undefined)))
    }
    await says(/^ready$/m)
    return {
      /** Makes its call. @returns {Promise<string>} its output */
      call() {
        child.stdin.write('go\n')
        return /** @type {Promise<string>} */ (ended)
      },
      /** Resolves when it has opened its page. */
      opened: () => says(/^page$/m),
      /** The user confirms its page. */
      agree: () => void child.stdin.write('agree\n'),
      kill: () => child.kill('SIGKILL'),
    }
  }

  return {
    world,
    agent,
    /** A user logs in, in a separate process. */
    logIn: async () => (await agent({ logsIn: true })).call(),
    /** @param {number} count @param {object} [more] */
    agents: (count, more) => Promise.all(Array.from({ length: count }, () => agent(more))),
    /** The access token has expired, and this many processes make a call at once. @param {number} count @returns {Promise<string[]>} their output */
    async callAtOnce(count) {
      const agents = await this.agents(count)
      world.expireAccess()
      return Promise.all(agents.map((one) => one.call()))
    },
    async close() {
      for (const child of children) child.kill('SIGKILL')
      await world.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
