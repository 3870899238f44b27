// Finds a redis-server for the suites that need one, once for the whole run: VALKEY_SERVER, or on PATH, else Debian's package if this
// process may install it, else the server at REDIS_URL (for the suites that can share one).
import { spawnSync } from 'node:child_process'
import { REDIS_SERVER } from '../../scripts/lib/redis-server.mjs'
import { aptInstall } from './apt-install.mjs'

export default function setup() {
  if (!isOnPath() && !process.env.VALKEY_SERVER) aptInstall('redis-server')
  const found = isOnPath()
  process.env.TEST_REDIS = found ? 'own' : process.env.REDIS_URL ? 'shared' : 'none'
  if (found) return
  if (process.env.VALKEY_SERVER) throw new Error('VALKEY_SERVER must be the path of a valkey-server')
  const advice = 'no redis-server on PATH, and none could be installed (apt-get as root)'
  if (process.env.CI && !process.env.REDIS_URL) throw new Error(`${advice}: the Redis suites cannot run`)
  console.warn(`\nSKIPPED: suites that need a Redis server of their own: ${advice}.`)
}

const isOnPath = () => spawnSync(REDIS_SERVER, ['--version']).status === 0
