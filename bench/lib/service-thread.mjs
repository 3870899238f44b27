// Simulated services in a thread of their own, so that they are not measured.
import { parentPort, workerData } from 'node:worker_threads'
import { startTokenService } from '../evergreen.mjs'

const services = await Promise.all(workerData.map((options) => startTokenService(options)))
const counts = services.map(() => ({}))

const calls = {
  counts(at) {
    // The log of a million requests would fill the memory.
    for (const { kind, status } of services[at].log.splice(0)) {
      for (const name of [kind, `${kind} ${status}`]) counts[at][name] = (counts[at][name] ?? 0) + 1
    }
    return counts[at]
  },
  failNext: (at, ...fault) => services[at].failNext(...fault),
  revokeAccessTokens: (at) => services[at].revokeAccessTokens(),
  async close() {
    clearInterval(counting)
    await Promise.all(services.map((service) => service.close()))
  },
}
const counting = setInterval(() => services.forEach((_, at) => calls.counts(at)), 1_000)

parentPort.on('message', async ({ id, call, at, args }) => {
  parentPort.postMessage({ id, result: await calls[call](at, ...args) })
  if (call === 'close') parentPort.close()
})
parentPort.postMessage(services.map(({ baseUrl, client }) => ({ baseUrl, client })))
