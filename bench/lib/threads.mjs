import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

export const cores = availableParallelism()

/** Runs a module once for each of `tasks`, as many at a time as there are cores. @returns What each run posted. */
export async function inThreads(module, tasks) {
  const results = []
  const left = [...tasks.entries()]
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) results[next[0]] = await posted(module, next[1])
  }
  await Promise.all(Array.from({ length: cores }, work))
  return results
}

function posted(module, workerData) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(module, { workerData })
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', (code) => reject(new Error(`${module.pathname} ended with ${code} and posted no result`)))
  })
}
