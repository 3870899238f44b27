// The simulated services, in a thread of their own: their logs grow with every request, and the heap of the library must stay
// flat.
import { parentPort, workerData } from 'node:worker_threads'
import { startTokenService } from 'axios-evergreen/testing'

const services = await Promise.all(workerData.map((options) => startTokenService(options)))
const served = services.map(() => ({}))

/** Moves the log into counts, `kind status`: the log of an hour would fill the memory. */
function countLog() {
  services.forEach(({ log }, n) => {
    for (const { kind, status } of log.splice(0))
      served[n][`${kind} ${status}`] = (served[n][`${kind} ${status}`] ?? 0) + 1
  })
}
const counting = setInterval(countLog, 1_000)

parentPort.on('message', async ({ to, call, args }) => {
  if (call !== 'close') {
    // Sometimes there is nothing to steal.
    await Promise.resolve(services[to][call](...args)).catch(() => undefined)
    return
  }
  clearInterval(counting)
  await Promise.all(services.map((service) => service.close()))
  countLog()
  parentPort.postMessage(served)
  parentPort.close()
})
parentPort.postMessage(services.map(({ baseUrl, client, login }) => ({ baseUrl, client, login })))
