import { parentPort } from 'node:worker_threads'

/** Serves the requests of the thread that started this one, by name. `stop` is the last one. */
export function serveRequests(does) {
  parentPort.on('message', async ({ id, name, argument }) => {
    try {
      parentPort.postMessage({ id, result: await does[name](argument) })
    } catch (error) {
      parentPort.postMessage({ id, error: String(error.stack) })
    }
    if (name === 'stop') parentPort.close()
  })
}
