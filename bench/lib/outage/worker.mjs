// Simulates every n-th outage, in a thread of its own.
import '../in-virtual-time.mjs'
import { parentPort, workerData } from 'node:worker_threads'
import { drawn, live } from './outage.mjs'
import { Tally } from './tally.mjs'

const { first, count, step } = workerData
const tally = new Tally()
for (let seed = first; seed <= count; seed += step) {
  const outage = drawn(seed)
  tally.add(outage, await live(outage))
}
parentPort.postMessage(tally.classes)
