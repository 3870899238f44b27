// One process of a fleet: an API client with a shared token, that counts what it meets, and kills or freezes itself by a real
// signal at the step where it is told to.
import axios from 'axios'
import { writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { library } from './library.mjs'

const { name, apiUrl, tokenUrl, login, redisUrl, prefix, exchangeTimeoutMs, everyMs } = JSON.parse(process.env.WORKER)
const { attachBearer, createTokenManager, loginPassword, redisStore } = library

let seen = nothing()
let commands = 0
let order = null
let falls = 0
let isResting = false
let isEnding = false

process.on('message', (message) => {
  if ('order' in message) order = message.order
  if ('rest' in message) isResting = message.rest
  if ('end' in message) isEnding = true
  if ('report' in message) {
    process.send({ report: seen })
    seen = nothing()
  }
})

const redis = createClient({ url: redisUrl })
redis.on('error', () => undefined)
await redis.connect()

let isClaimHere = false
const client = {
  async command(args) {
    commands += 1
    seen.commands += 1
    const reply = redis.sendCommand(args)
    if (isClaimHere) reach('settle sent')
    const answer = await reply
    if (isClaimHere) reach('settled')
    isClaimHere = !isClaimHere && JSON.parse(answer).kind === 'granted'
    if (isClaimHere) reach('granted')
    return answer
  },
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
  store: redisStore({
    client,
    prefix,
    encryptionKeys: [{ id: 'soak', key: new Uint8Array(32).fill(7) }],
  }),
  exchangeTimeoutMs,
})
tokens.on('suspicious', ({ evidence }) => seen.suspicions.push(evidence))
tokens.on('renewed', ({ by, durationMs }) => {
  seen.renewals.push({ by, durationMs, commands })
  commands = 0
})
const api = axios.create({ baseURL: apiUrl })
attachBearer(api, tokens)

await tokens.getAccessToken()
process.send({ ready: true })
while (!isEnding) {
  if (!isResting) await request()
  await pause(everyMs)
}
await tokens.close()
redis.destroy()
process.disconnect()

async function request() {
  const isLive = tokens.peekAccessToken() !== undefined && tokens.status().accessExpiresAt - Date.now() > 500
  const [startedAt, fallsBefore] = [performance.now(), falls]
  try {
    await api.get('/wallet')
    seen.served += 1
  } catch (error) {
    seen.failures.push(error.code ?? String(error))
  }
  // What a frozen process waits is not the library's.
  if (falls === fallsBefore) seen[isLive ? 'withToken' : 'without'].push(performance.now() - startedAt)
}

function reach(step) {
  if (order?.step !== step) return
  const { signal, delayMs } = order
  order = null
  const fall = () => {
    falls += 1
    // Not by message: those leave later, and this process does not go on.
    writeSync(1, `${signal}\n`)
    process.kill(process.pid, signal)
  }
  if (delayMs === 0) fall()
  else setTimeout(fall, delayMs)
}

/** Of requests: how long they took, with a token that was live for another half second, and without. */
function nothing() {
  return { served: 0, failures: [], suspicions: [], renewals: [], commands: 0, withToken: [], without: [] }
}
