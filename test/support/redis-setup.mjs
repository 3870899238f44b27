// Finds a redis-server for the suites that need one, once for the whole run: on PATH, else Debian's package where this
// process may install it, else the server at REDIS_URL (for the suites that can share one).
import { spawnSync } from 'node:child_process'
import { aptInstall } from './apt-install.mjs'

export default function setup() {
  if (!isOnPath()) aptInstall('redis-server')
  const found = isOnPath()
  process.env.TEST_REDIS = found ? 'own' : process.env.REDIS_URL ? 'shared' : 'none'
  if (found) return
  const advice = 'no redis-server on PATH, and none could be installed (apt-get as root)'
  if (process.env.CI && !process.env.REDIS_URL) throw new Error(`${advice}: the Redis suites cannot run`)
  console.warn(`\nSKIPPED: suites that need a Redis server of their own: ${advice}.`)
}

const isOnPath = () => spawnSync('redis-server', ['--version']).status === 0
