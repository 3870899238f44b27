// Finds a PostgreSQL for the suites that need one, once for the whole run: on PATH or where Debian installs it, else Debian's
// package if this process may install it, else the server at POSTGRES_URL (for the suites that can share one).
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { aptInstall } from './apt-install.mjs'

export default function setup() {
  const { CI, POSTGRES_URL } = process.env
  if (!binaries()) aptInstall('postgresql')
  const found = binaries()
  process.env.TEST_POSTGRES = found ? 'own' : POSTGRES_URL ? 'shared' : 'none'
  if (found) {
    process.env.TEST_POSTGRES_BINARIES = found
    process.env.TEST_POSTGRES_DATA = dataFolder()
    return
  }
  const advice =
    'no PostgreSQL 12 or newer on PATH or in /usr/lib/postgresql, and none could be installed (apt-get as root)'
  if (CI && !POSTGRES_URL) throw new Error(`${advice}: the PostgreSQL suites cannot run`)
  console.warn(`\nSKIPPED: suites that need a PostgreSQL server of their own: ${advice}.`)
}

function binaries() {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((one, other) => Number(other) - Number(one)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  const isNewEnough = (folder) => existsSync(join(folder, 'initdb')) && versionOf(join(folder, 'postgres')) >= 12
  const found = folders.find(isNewEnough)
  // The other programs are next to initdb, but perhaps not next to a link to it.
  return found && dirname(realpathSync(join(found, 'initdb')))
}

function versionOf(postgres) {
  const { stdout } = spawnSync(postgres, ['--version'], { encoding: 'utf8' })
  return Number(/ (\d+)/.exec(stdout ?? '')?.[1])
}

/** The folder for the data of all servers of the run. Its owner runs the servers, because PostgreSQL refuses to run as root. */
function dataFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'evergreen-postgres-'))
  if (process.getuid?.() !== 0) return folder
  const ids = (name) => ['-u', '-g'].map((which) => spawnSync('id', [which, name], { encoding: 'utf8' }).stdout.trim())
  const [uid, gid] = [ids('postgres'), ids('nobody')].find(([id]) => id !== '') ?? []
  chownSync(folder, Number(uid), Number(gid))
  return folder
}
