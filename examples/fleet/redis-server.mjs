import { createClient } from 'redis'
import { startRedis } from '../../scripts/lib/redis-server.mjs'

/** That at `REDIS_URL`, or one of our own until `stop`. Ends the process, and says what to do, where there is neither. */
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
