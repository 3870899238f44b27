import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Starts one simulated service for each of `options`.
 *
 * @returns `services`, each `{ baseUrl, client, login, lifetimeMs, do }` with `do('failNext', …)` and the like; and `close`, which
 *   resolves with what each has served, by kind and status.
 */
export async function startServices(options) {
  const thread = new Worker(new URL('service-thread.mjs', import.meta.url), { workerData: options })
  const [accounts] = await once(thread, 'message')
  const services = accounts.map((account, to) => ({
    ...account,
    lifetimeMs: options[to].accessLifetimeMs,
    do: (call, ...args) => thread.postMessage({ to, call, args }),
  }))
  return {
    services,
    async close() {
      const gone = once(thread, 'exit')
      thread.postMessage({ call: 'close' })
      const [served] = await once(thread, 'message')
      await gone
      return served
    },
  }
}
