// One process of the fleet: it has logins of its own, and does with them what the parent requests. It reports its processor time.
import { createHash } from 'node:crypto'
import { createClient } from 'redis'
import { createTokenManager } from '../../../dist/index.js'
import { person } from '../../../dist/login.js'
import { redisStore } from '../../../dist/redis.js'

const [url, name, logins, isWatching] = [
  process.argv[2],
  process.argv[3],
  Number(process.argv[4]),
  process.argv[5] === 'true',
]

const client = await createClient({ url }).connect()
const subscriber = isWatching ? await client.duplicate().connect() : undefined
const encryptionKeys = [{ id: 'one', key: createHash('sha256').update('bench').digest() }]
const store = redisStore({ client, encryptionKeys, commandTimeoutMs: 5_000, ...(subscriber && { subscriber }) })
const managers = []
for (let n = 0; n < logins; n += 1) {
  const id = `${name}-${n}`
  let issued = 0
  const grant = () => ({
    accessToken: `a-${id}-${(issued += 1)}`,
    accessLifetimeMs: 3_600_000,
    refreshToken: `r-${id}-${issued}`,
  })
  const source = {
    id,
    login: person,
    obtain: () => Promise.reject(new Error('nobody logs in again')),
    refresh: async () => grant(),
  }
  // Without notifications each request reads the store.
  const renewal = { keepWarm: 'never', ...(!isWatching && { maxStalenessMs: 1 }) }
  managers.push(createTokenManager({ source, store, storeKey: id, renewal }))
  await managers[n].adopt(grant())
  // From its first request on, a manager watches.
  await managers[n].getAccessToken()
}

const DEEDS = {
  async none() {},
  renew: (n) => managers[n % logins].renew(),
  request: (n) => managers[n % logins].getAccessToken(),
}

/** Runs `perSecond` deeds a second, by the clock. */
async function work({ deed, perSecond, seconds }) {
  const before = process.cpuUsage()
  const startedAt = performance.now()
  const pending = []
  let done = 0
  while (performance.now() - startedAt < seconds * 1_000) {
    await new Promise((resolve) => setTimeout(resolve, 5))
    const due = ((performance.now() - startedAt) / 1_000) * perSecond
    if (deed !== 'none') while (done < due) pending.push(DEEDS[deed]((done += 1)))
  }
  await Promise.all(pending)
  const { user, system } = process.cpuUsage(before)
  return { done, cpuMs: (user + system) / 1_000 }
}

process.on('message', async (task) => process.send(task === 'end' ? process.exit() : await work(task)))
process.send('ready')
