// One process of a fleet: an API client with a shared token. It counts what happens to it, and kills or freezes itself by a real signal at the step
// that the fleet orders.
import axios from 'axios'
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { connect } from './clients.mjs'
import { library } from './library.mjs'
import { notesIn, postgresStep, redisStep } from './notes.mjs'

const {
  name,
  apiUrl,
  tokenUrl,
  login,
  redisUrl,
  place,
  prefix,
  history,
  exchangeTimeoutMs,
  commandTimeoutMs,
  everyMs,
  busyMs = 0,
} = JSON.parse(process.env.WORKER)
const { attachBearer, createTokenManager, loginPassword, postgresStore, redisStore, sqliteStore } = library
const storeFor = { postgres: postgresStore, sqlite: sqliteStore }[place?.kind] ?? redisStore

let seen = nothing()
let commands = 0
let order = null
let falls = 0
let isResting = false
let isEnding = false
/** The lease in the store belongs to this process. */
let isLeaseHere = false

process.on('message', (message) => {
  if ('order' in message) order = message.order
  if ('rest' in message) isResting = message.rest
  if ('end' in message) isEnding = true
  if ('report' in message) {
    process.send({ report: seen })
    seen = nothing()
  }
})

const redis = place ? undefined : createClient({ url: redisUrl })
redis?.on('error', () => undefined)
await redis?.connect()

const note = history ? notesIn(history) : () => () => undefined
if (place?.kind === 'sqlite' && history) await watchFile()

const http = axios.getAdapter('http')
const transport = {
  headers: { 'X-Worker': name },
  async adapter(config) {
    const answer = http(config)
    reach('exchange sent')
    await answer.catch(() => undefined)
    reach('answered')
    return answer
  },
}

const tokens = createTokenManager({
  source: loginPassword({ baseUrl: tokenUrl, ...login, transport }),
  store: storeFor({
    ...watchedClient(place ? await connect(place) : { client: redis }),
    prefix,
    commandTimeoutMs,
    encryptionKeys: [{ id: 'soak', key: Uint8Array.from({ length: 32 }, (_, index) => index) }],
  }),
  exchangeTimeoutMs,
})
tokens.on('suspicious', ({ evidence }) => seen.suspicions.push(evidence))
tokens.on('renewed', ({ by, durationMs }) => {
  seen.renewals.push({ by, durationMs, commands })
  commands = 0
})
/** The sendings of the last request. */
let sendings = []
let requests = 0
const api = axios.create({
  baseURL: apiUrl,
  adapter(config) {
    sendings.push({ token: String(config.headers.Authorization).replace('Bearer ', ''), at: Date.now() })
    return http(config)
  },
})
attachBearer(api, tokens)

const first = tokens.getAccessToken()
// The lease request has been sent to the store, and the response arrives during the work.
await pause(1)
for (const until = performance.now() + busyMs; performance.now() < until;);
await first
process.send({ ready: true })
while (!isEnding) {
  if (!isResting) await request()
  await pause(everyMs)
}
await tokens.close()
redis?.destroy()
process.disconnect()
// The clients of a place keep the process alive.
if (place) process.exit()

async function request() {
  const isLive = tokens.peekAccessToken() !== undefined && tokens.status().accessExpiresAt - Date.now() > 500
  const [startedAt, fallsBefore, reportBefore] = [performance.now(), falls, seen]
  sendings = []
  const path = `/wallet?of=${name}-${(requests += 1)}`
  const answer = api.get(path)
  if (await isWaiting()) seen.waited += 1
  try {
    await answer
    seen.served += 1
    if (seen === reportBefore) seen.begunAndServed += 1
  } catch (error) {
    seen.failures.push({ code: error.code ?? String(error), status: error.response?.status, path, sendings })
  }
  // Time for which the process was frozen does not count against the library.
  if (falls === fallsBefore && isLive) seen.withToken.push(performance.now() - startedAt)
}

/** Whether the request has not left, although there is a token. A turn of the event loop is more than it needs to leave. */
async function isWaiting() {
  await new Promise((resolve) => setImmediate(resolve))
  return sendings.length === 0 && tokens.peekAccessToken() !== undefined
}

function watchedClient({ client, pool, ...others }) {
  if (pool) {
    const query = (...statement) => watched(() => pool.query(...statement), postgresStep(...statement))
    return { pool: { query } }
  }
  if (client?.call) {
    const call = client.call.bind(client)
    client.call = (...args) => watchedCommand(args, (asked) => call(...asked))
  } else if (client) {
    const send = client.sendCommand.bind(client)
    // Before the command, a cluster takes its key, and a sentinel takes whether it only reads.
    client.sendCommand = (...given) => watchedCommand(given.pop(), (asked) => send(...given, asked))
  }
  return client ? { client } : others
}

function watchedCommand(args, run) {
  const step = redisStep(args)
  // Each read asks for the epoch: the check of histories must know it, even if the store knows it already.
  return watched(() => run(history && step.does === 'read' ? args.slice(0, 4) : args), step)
}

/** Reports the steps of a lease. */
async function watched(run, { told, ...step }) {
  const answered = begun(step)
  const pending = run()
  reachIf(isLeaseHere, step, 'settle sent')
  const answer = await pending
  const outcome = told(answer)
  answered(outcome)
  done(step, outcome.replaced)
  return answer
}

async function watchFile() {
  const { watchSqlite } = await import('./watched-sqlite.mjs')
  let answered
  watchSqlite({
    read: (step, begunAt) => begun(step, begunAt)(step),
    writes(step, begunAt) {
      answered = begun(step, begunAt)
      reachIf(isLeaseHere, step, 'settle sent')
    },
    holds: () => reach('in a step'),
    put(step) {
      answered({ replaced: true })
      done(step, true)
    },
  })
}

function begun(step, begunAt) {
  commands += 1
  seen.commands += 1
  return note(step, begunAt)
}

/** The part `shown` of a record is not sealed. */
function done(step, isPut) {
  if (step.does === 'read') reach('read')
  reachIf(isLeaseHere, step, 'settled')
  if (isPut) isLeaseHere = !isLeaseHere && 'leasedUntil' in JSON.parse(step.value).shown
  reachIf(isLeaseHere, step, 'granted')
}

function reachIf(isSo, { does }, step) {
  if (isSo && does === 'replace') reach(step)
}

function reach(step) {
  if (order?.step !== step) return
  const { signal, delayMs } = order
  order = null
  const fall = () => {
    falls += 1
    // Not reported by message: a message leaves later, and by then this process has stopped.
    writeSync(1, `${signal}\n`)
    process.kill(process.pid, signal)
  }
  if (delayMs === 0) fall()
  else setTimeout(fall, delayMs)
}

/** `begunAndServed`: since the last report; `waited`: requests that waited although there was a token; `withToken`: ms of each request with a live token. */
function nothing() {
  const requests = { served: 0, begunAndServed: 0, waited: 0, failures: [], withToken: [] }
  return { ...requests, suspicions: [], renewals: [], commands: 0 }
}
