// Eight workers of one service use one account. Counts their token requests, first without a store, then with Redis.
// npm run example fleet
import axios from 'axios'
import { attachBearer, createTokenManager, loginPassword } from 'axios-evergreen'
import { redisStore } from 'axios-evergreen/redis'
import { startTokenService } from 'axios-evergreen/testing'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { createClient } from 'redis'
import { findRedis } from './redis-server.mjs'

const [WORKERS, SECONDS, LIFETIME_MS] = [8, Number(process.argv[2] ?? 10), 4_000]

if (cluster.isPrimary) await compare()
else await work(JSON.parse(process.env.WORKER))

/** One worker: an API client. It shares its token if it is given a Redis. */
async function work({ baseUrl, login, password, redisUrl }) {
  const client = redisUrl && (await createClient({ url: redisUrl }).on('error', console.warn).connect())
  const key = Uint8Array.from({ length: 32 }, (_, index) => index) // in production, from a secret manager
  const encryptionKeys = [{ id: 'example', key }]
  const tokens = createTokenManager({
    source: loginPassword({ baseUrl, login, password }),
    // Only for this example, in which everything shares one machine: in production the default is better.
    store: client && redisStore({ client, encryptionKeys, commandTimeoutMs: 5_000 }),
  })
  const api = axios.create({ baseURL: baseUrl })
  attachBearer(api, tokens)
  process.send('up')
  await once(process, 'message')
  while (process.connected) {
    const sent = api.get('/wallet').then(() => 'served')
    const outcome = await sent.catch(() => 'failed')
    if (process.connected) process.send(outcome)
    await pause(100)
  }
  await tokens.close()
  client?.destroy()
}

async function run(redisUrl) {
  const { login, baseUrl, count, close } = await startTokenService({ accessLifetimeMs: LIFETIME_MS, latencyMs: 30 })
  const WORKER = JSON.stringify({ baseUrl, ...login, redisUrl })
  const workers = Array.from({ length: WORKERS }, () => cluster.fork({ WORKER }))
  await Promise.all(workers.map((worker) => once(worker, 'message'))) // all are up
  const requests = { served: 0, failed: 0 }
  const startedAt = performance.now()
  for (const worker of workers) worker.on('message', (outcome) => (requests[outcome] += 1)).send('go')
  await pause(SECONDS * 1_000)
  await Promise.all(workers.map((worker) => worker.disconnect() && once(worker, 'exit')))
  await close()
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1)
  return { ...requests, seconds, calls: count('obtain') + count('refresh') }
}

async function compare() {
  const redis = await findRedis()
  console.log(
    `${WORKERS} workers for ${SECONDS} s, tokens of ${LIFETIME_MS / 1_000} s, about ten requests a second each`,
  )
  const [alone, shared] = [await run(), await run(redis.url)]
  console.log(`each for itself: ${sumOf(alone)}`)
  console.log(`sharing:         ${sumOf(shared)}`)
  await redis.stop()
}

function sumOf({ calls, seconds, served, failed }) {
  return `${calls} token requests in ${seconds} s, ${served} requests served, ${failed} failed`
}
