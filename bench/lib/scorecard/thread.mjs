// Plays one row with one contestant, in a thread of its own, because some contestants keep their state in their module. The starter ends the thread.
import axios from 'axios'
import { parentPort, workerData } from 'node:worker_threads'
import { startTokenService } from '../../evergreen.mjs'
import { contestants } from '../contestants.mjs'
import { tokenCall } from '../token-call.mjs'
import { startFront } from './front.mjs'
import { rows } from './rows.mjs'

const PATIENCE_MS = 30_000

const { row, contestant, quick } = workerData
const { options, play, wrongSecret } = rows[row]
const service = await startTokenService(options)
const credentials = wrongSecret ? { ...service.client, clientSecret: 'an-old-password' } : service.client
const account = { baseUrl: service.baseUrl, client: credentials }
const api = await startFront(service.baseUrl)
const lifetimeMs = options?.accessLifetimeMs ?? 60_000
const tally = { served: 0, failed: 0, leaked: 0, crashes: 0 }
let countsFrom = 0

// In a real program, the rejection would have ended the process.
process.on('unhandledRejection', () => (tally.crashes += 1))

const call = await another()
await play({
  call,
  another,
  quick,
  service,
  secret: credentials.clientSecret,
  tally,
  api,
  start() {
    countsFrom = service.log.length
    Object.assign(tally, { served: 0, failed: 0 })
  },
})
const log = service.log.slice(countsFrom)
parentPort.postMessage({
  ...tally,
  tokenCalls: log.filter(({ kind }) => kind === 'obtain').length,
  apiRequests: log.filter(({ kind }) => kind === 'resource').length,
})

/** @returns A new client of the contestant. Its calls resolve with their result, or with the error. */
async function another() {
  const instance = axios.create({ baseURL: api.url, proxy: false })
  const context = { instance, baseUrl: api.url, service: account, obtain: tokenCall(account), lifetimeMs }
  const { get } = await contestants[contestant].create(context)
  return async (url = '/wallet', config = {}) => {
    try {
      const answer = await within(PATIENCE_MS, get(url, config))
      tally.served += 1
      return answer
    } catch (error) {
      tally.failed += 1
      return error
    }
  }
}

function within(ms, promise) {
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error('No answer')), ms).unref())
  return Promise.race([promise, late])
}
