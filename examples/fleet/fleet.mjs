// Eight workers of one service, one account. Counts their token calls, each for itself and then sharing through Redis.
// npm run build && node examples/fleet/fleet.mjs
import cluster from 'node:cluster'
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { startTokenService } from 'axios-evergreen/testing'

const WORKERS = 8
const SECONDS = 10
const LIFETIME_MS = 4_000

cluster.setupPrimary({ exec: new URL('worker.mjs', import.meta.url).pathname })

async function run(redisUrl) {
  const service = await startTokenService({ accessLifetimeMs: LIFETIME_MS, latencyMs: 30 })
  const { baseUrl, login } = service
  const account = JSON.stringify({ baseUrl, ...login, redisUrl })
  const workers = Array.from({ length: WORKERS }, () => cluster.fork({ ACCOUNT: account }))
  const counts = workers.map(() => ({ served: 0, failed: 0 }))
  workers.forEach((worker, n) => worker.on('message', (count) => Object.assign(counts[n], count)))
  await pause(SECONDS * 1_000)
  const ended = workers.map((worker) => once(worker, 'exit'))
  for (const worker of workers) worker.send('stop')
  await Promise.all(ended)
  await service.close()
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0)
  return { calls: service.count('obtain') + service.count('refresh'), served: sum('served'), failed: sum('failed') }
}

async function startRedis() {
  const port = 20_000 + Math.floor(Math.random() * 20_000)
  const server = spawn('redis-server', ['--port', port, '--bind', '127.0.0.1', '--save', ''], { stdio: 'pipe' })
  server.on('error', () => {
    console.error('This example starts a Redis server of its own: install redis-server, or set REDIS_URL.')
    process.exit(1)
  })
  for await (const chunk of server.stdout) if (String(chunk).includes('Ready to accept')) break
  if (server.exitCode !== null) throw new Error(`redis-server ended at once; is port ${port} taken?`)
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() }
}

const redis = process.env.REDIS_URL ? { url: process.env.REDIS_URL, stop() {} } : await startRedis()
console.log(`${WORKERS} workers, ${SECONDS} s, tokens of ${LIFETIME_MS / 1_000} s, about ten requests a second each`)
const alone = await run()
console.log(`each for itself: ${alone.calls} token calls, ${alone.served} requests served, ${alone.failed} failed`)
const shared = await run(redis.url)
console.log(`sharing:         ${shared.calls} token calls, ${shared.served} requests served, ${shared.failed} failed`)
redis.stop()
const good = shared.calls < alone.calls && shared.failed === 0
console.log(
  good ? `${(alone.calls / shared.calls).toFixed(1)} times fewer token calls` : 'FAILED: sharing saved nothing',
)
process.exitCode = good ? 0 : 1
