// Finds a redis-server for the suites that need one, once for the whole run: on PATH, else Debian's package where this
// process may install it, else the server at REDIS_URL (for the suites that can share one).
import { spawnSync } from 'node:child_process'

export default function setup() {
  const found = isOnPath() || installed()
  process.env.TEST_REDIS = found ? 'own' : process.env.REDIS_URL ? 'shared' : 'none'
  if (found) return
  const advice = 'no redis-server on PATH, and none could be installed (apt-get as root)'
  if (process.env.CI && !process.env.REDIS_URL) throw new Error(`${advice}: the Redis suites cannot run`)
  console.warn(`\nSKIPPED: suites that need a Redis server of their own: ${advice}.`)
}

const isOnPath = () => spawnSync('redis-server', ['--version']).status === 0

function installed() {
  if (process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).status !== 0) return false
  console.log('\nInstalling redis-server (apt-get) for the Redis suites …')
  const apt = (...args) =>
    spawnSync('apt-get', [...args], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: 240_000 })
  const install = () => apt('install', '-y', '--no-install-recommends', 'redis-server')
  // The list of packages may be missing or old.
  if (install().status !== 0) {
    apt('update')
    install()
  }
  return isOnPath()
}
