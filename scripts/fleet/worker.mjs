// One process of a fleet: an API client with a shared token. It counts what it meets, and kills or freezes itself by a real
// signal at the step that it is told.
import axios from 'axios'
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { connect } from './clients.mjs'
import { library } from './library.mjs'

const {
  name,
  apiUrl,
  tokenUrl,
  login,
  redisUrl,
  place,
  prefix,
  exchangeTimeoutMs,
  commandTimeoutMs,
  everyMs,
  busyMs = 0,
} = JSON.parse(process.env.WORKER)
const { attachBearer, createTokenManager, loginPassword, postgresStore, redisStore } = library

let seen = nothing()
let commands = 0
let order = null
let falls = 0
let isResting = false
let isEnding = false
/** The claim in the store belongs to this process. */
let isClaimHere = false

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

const client = {
  // Only a command that replaces the record has a text.
  command: (args) =>
    watched(redis.sendCommand(args), args.length > 5 ? args[4] : undefined, (put) => Number(put) === 1),
}

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
  store: (place?.kind === 'postgres' ? postgresStore : redisStore)({
    ...(place ? watchedPool(await connect(place)) : { client }),
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
let isSent = false
const api = axios.create({
  baseURL: apiUrl,
  adapter(config) {
    isSent = true
    return http(config)
  },
})
attachBearer(api, tokens)

const first = tokens.getAccessToken()
// The claim has left for the store, and the answer comes during the work.
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
  isSent = false
  const answer = api.get('/wallet')
  if (await isWaiting()) seen.waited += 1
  try {
    await answer
    seen.served += 1
    if (seen === reportBefore) seen.begunAndServed += 1
  } catch (error) {
    seen.failures.push(error.code ?? String(error))
  }
  // The library has no part in the time for which the process was frozen.
  if (falls === fallsBefore && isLive) seen.withToken.push(performance.now() - startedAt)
}

/** Whether the request has not left, although there is a token. A turn of the event loop is more than it needs to leave. */
async function isWaiting() {
  await new Promise((resolve) => setImmediate(resolve))
  return !isSent && tokens.peekAccessToken() !== undefined
}

function watchedPool({ pool, ...others }) {
  if (!pool) return others
  const query = (statement, values) => watched(pool.query(statement, values), values[1], ({ rows }) => rows.length > 0)
  return { pool: { query } }
}

/** Reports the steps of a claim. @param text The new record, if any; its part `shown` is not sealed. */
async function watched(reply, text, hasPut) {
  commands += 1
  seen.commands += 1
  if (isClaimHere && text) reach('settle sent')
  const answer = await reply
  if (isClaimHere && text) reach('settled')
  if (text && hasPut(answer)) isClaimHere = !isClaimHere && 'claimedUntil' in JSON.parse(text).shown
  if (isClaimHere && text) reach('granted')
  return answer
}

function reach(step) {
  if (order?.step !== step) return
  const { signal, delayMs } = order
  order = null
  const fall = () => {
    falls += 1
    // Not by message: a message leaves later, and by then this process has stopped.
    writeSync(1, `${signal}\n`)
    process.kill(process.pid, signal)
  }
  if (delayMs === 0) fall()
  else setTimeout(fall, delayMs)
}

/** `begunAndServed`: since the last report; `waited`: although there was a token; `withToken`: ms of each request with a live token. */
function nothing() {
  const requests = { served: 0, begunAndServed: 0, waited: 0, failures: [], withToken: [] }
  return { ...requests, suspicions: [], renewals: [], commands: 0 }
}
