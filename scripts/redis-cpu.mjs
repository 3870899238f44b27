// What one read of the store costs Redis, beside a GET of the same record, and beside a script that does nothing: node scripts/redis-cpu.mjs [--rounds 5].
// Redis itself measures the CPU that it uses, for sockets, too (INFO cpu). Needs redis-server, and the built package.
import { createTokenManager } from 'axios-evergreen'
import { redisStore } from 'axios-evergreen/redis'
import { parseArgs } from 'node:util'
import { createClient } from 'redis'
import { startRedis } from './lib/redis-server.mjs'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const CALLS = 5_000

const redis = await startRedis()
const client = createClient({ url: redis.url })
client.on('error', () => undefined)
await client.connect()

const sent = []
const command = (args) => {
  sent.push(args)
  return client.sendCommand(args)
}
const obtain = async () => ({ accessToken: 'a'.repeat(900), accessLifetimeMs: 60_000, refreshToken: 'r'.repeat(40) })
const store = redisStore({
  client: { command },
  encryptionKeys: [{ id: 'k', key: crypto.getRandomValues(new Uint8Array(32)) }],
})
const tokens = createTokenManager({ source: { id: 'account', obtain }, store })
await tokens.getAccessToken()
// The second renewal knows the epoch. So do almost all reads.
await tokens.renew()
await tokens.close()
const read = sent.findLast(([name, , , , ...args]) => name === 'EVALSHA' && args.length === 1)
const nothing = await client.sendCommand(['SCRIPT', 'LOAD', 'return 1'])

for (let round = 1; round <= Number(values.rounds); round += 1) {
  const get = await microseconds(['GET', read[3]])
  const least = await microseconds(['EVALSHA', nothing, '0'])
  const own = await microseconds(read)
  const times = (us) => (us / get).toFixed(2)
  console.log(
    `GET ${get.toFixed(1)} µs · a script that does nothing ${times(least)} times that · a read ${times(own)} times that`,
  )
}
await client.close()
await redis.stop()

/** @returns {Promise<number>} µs of the CPU of Redis for each call */
async function microseconds(args) {
  const begun = await used()
  // One after the other, as they come from many processes: each has a packet of its own.
  for (let done = 0; done < CALLS; done += 1) await client.sendCommand(args)
  return (await used()) - begun
}

/** @returns {Promise<number>} The CPU that Redis has used, as µs for each call of a measurement. */
async function used() {
  const cpu = String(await client.sendCommand(['INFO', 'cpu']))
  const seconds = ['sys', 'user'].map((kind) => Number(new RegExp(`used_cpu_${kind}:([\\d.]+)`).exec(cpu)[1]))
  return ((seconds[0] + seconds[1]) * 1e6) / CALLS
}
