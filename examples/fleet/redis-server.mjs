import { createClient } from 'redis'
import { startRedis } from '../../scripts/lib/redis-server.mjs'

/** The Redis at `REDIS_URL`, or a private one until `stop`. If there is neither, says what to do and ends the process. */
export async function findRedis() {
  const { REDIS_URL } = process.env
  if (!REDIS_URL) return startRedis().catch((error) => missing(error.message))
  const client = createClient({ url: REDIS_URL, socket: { reconnectStrategy: false } }).on('error', () => undefined)
  await client.connect().catch((error) => missing(`No Redis answers at REDIS_URL (${error.message}).`))
  client.destroy()
  return { url: REDIS_URL, stop: () => undefined }
}

function missing(what) {
  console.error(`${what} Install redis-server, or set REDIS_URL to a Redis that may be used.`)
  process.exit(1)
}
