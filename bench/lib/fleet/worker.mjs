// Lets one fleet live, in a thread of its own.
import '../in-virtual-time.mjs'
import { parentPort, workerData } from 'node:worker_threads'
import { live } from './paper-fleet.mjs'

parentPort.postMessage(await live(workerData))
