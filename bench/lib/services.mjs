import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/**
 * Starts a simulated service for each of `options`. All services run in one thread of their own.
 *
 * @returns `services`, each `{ baseUrl, client, counts(), failNext(…), revokeAccessTokens() }`: `counts()` resolves with requests by
 *   kind and by kind and status, `{ obtain: 1, 'obtain 200': 1 }`; and `close()`.
 */
export async function startServices(options) {
  const thread = new Worker(new URL('service-thread.mjs', import.meta.url), { workerData: options })
  const [accounts] = await once(thread, 'message')
  const pending = new Map()
  let lastId = 0
  thread.on('message', ({ id, result }) => {
    pending.get(id)(result)
    pending.delete(id)
  })
  const ask = (call, at, ...args) =>
    new Promise((resolve) => {
      pending.set(++lastId, resolve)
      thread.postMessage({ id: lastId, call, at, args })
    })
  return {
    services: accounts.map((account, at) => ({
      ...account,
      counts: () => ask('counts', at),
      failNext: (...fault) => ask('failNext', at, ...fault),
      revokeAccessTokens: () => ask('revokeAccessTokens', at),
    })),
    async close() {
      const gone = once(thread, 'exit')
      await ask('close')
      await gone
    },
  }
}
