// Which takes more processor time for the owners of a million logins on Redis: notifications of each change, or checks of the store?
// npm run build && node bench/watched-redis.mjs [processes that are simulated] [seconds]
// A million logins in 100 processes of 10 000 each, tokens of 1 h. Only some of the processes are simulated, each at its real rate, and the sums are
// extrapolated to 100.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startRedis } from '../scripts/lib/redis-server.mjs'

const PLAYED = Number(process.argv[2] ?? 8)
const SECONDS = Number(process.argv[3] ?? 20)
const PROCESSES = 100
const LOGINS = 1_000_000
const RENEWALS_A_SECOND = LOGINS / 3_600
/** Without notifications, a login in use checks the store once in this many seconds: with each request, but at most once in 30. */
const EVERY = { 'in steady use': 30, 'with a request every 5 min': 300 }
const LOOKS_A_SECOND = LOGINS / EVERY['in steady use'] / PROCESSES
/** Managers of a simulated process. More would only enlarge a `Map`. */
const EACH = 1_000

const redis = await startRedis()

async function fleet(count, isWatching) {
  const file = fileURLToPath(new URL('lib/watched/process.mjs', import.meta.url))
  const children = []
  for (let n = 0; n < count; n += 1) {
    const child = fork(file, [redis.url, `process-${n}`, String(EACH), String(isWatching)])
    await once(child, 'message')
    children.push(child)
  }
  return {
    /** @param tasks For each process. */
    async play(tasks) {
      const before = await redisCpu()
      const ended = Promise.all(children.map((child) => once(child, 'message')))
      children.forEach((child, n) => child.send({ seconds: SECONDS, perSecond: 0, deed: 'none', ...tasks(n) }))
      const reports = (await ended).map(([report]) => report)
      const after = await redisCpu()
      return {
        reports,
        redisMs: after.ms - before.ms,
        published: after.published - before.published,
        scripts: after.scripts - before.scripts,
      }
    },
    end: () => children.forEach((child) => child.send('end')),
  }
}

async function redisCpu() {
  const text = `${await redis.command('INFO', 'everything')}`
  const number = (name) => Number(new RegExp(`${name}(\\d+(\\.\\d+)?)`).exec(text)?.[1] ?? 0)
  const ms = (number('used_cpu_user:') + number('used_cpu_sys:')) * 1_000
  return { ms, published: number('cmdstat_publish:calls='), scripts: number('cmdstat_evalsha:calls=') }
}

const perSecond = RENEWALS_A_SECOND
const renewing = (n) => (n === 0 ? { deed: 'renew', perSecond } : {})

async function played(count, isWatching, tasks) {
  const processes = await fleet(count, isWatching)
  const idle = await processes.play(() => ({}))
  const result = await processes.play(tasks)
  processes.end()
  const passive = (of) => of.reports.slice(1).reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  const all = (of) => of.reports.reduce((sum, { cpuMs }) => sum + cpuMs, 0)
  const done = result.reports.reduce((sum, one) => sum + one.done, 0)
  return {
    ...result,
    done,
    redisMs: result.redisMs - idle.redisMs,
    passiveMs: passive(result) - passive(idle),
    allMs: all(result) - all(idle),
  }
}

const alone = await played(1, true, renewing)
const many = await played(PLAYED, true, renewing)
const looks = await played(PLAYED, false, () => ({ deed: 'request', perSecond: LOOKS_A_SECOND }))
await redis.stop()

const micro = (ms, count) => (1_000 * ms) / count
const deliveries = many.published * (PLAYED - 1)
const delivery = {
  redis: micro(many.redisMs - (alone.redisMs * many.published) / alone.published, deliveries),
  process: micro(many.passiveMs, deliveries),
}
const look = { redis: micro(looks.redisMs, looks.scripts), process: micro(looks.allMs, looks.scripts) }
const publishes = many.published / many.done
const deliveriesASecond = RENEWALS_A_SECOND * publishes * PROCESSES

console.log(
  `${many.done} renewals, ${many.published} publications (${publishes.toFixed(2)} a renewal), ${deliveries} deliveries to ${PLAYED - 1} other processes`,
)
console.log(`${looks.done} requests, ${looks.scripts} checks by ${PLAYED} processes`)
const line = (name, { redis: ofRedis, process: own }, rate) =>
  console.log(
    `${name}: ${ofRedis.toFixed(1)} µs of Redis and ${own.toFixed(1)} µs of a process each; a million logins: ${Math.round(rate)} a second, ` +
      `${((ofRedis * rate) / 1e6).toFixed(2)} cores of Redis and ${((own * rate) / 1e6).toFixed(2)} of the processes`,
  )
line('delivery', delivery, deliveriesASecond)
for (const [use, seconds] of Object.entries(EVERY)) line(`look, ${use}`, look, LOGINS / seconds)
