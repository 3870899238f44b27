import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform } from 'node:process'
import { join } from 'node:path'

/** A failed download, with the message of npm. Its stack is of no use. */
export class DownloadError extends Error {}

/** @returns `{ version, file }` of a Node of this major: the one that runs this, or one that npm keeps in its cache. */
export function nodeOf(major) {
  const own = process.versions.node
  if (own.split('.')[0] === major) return { version: own, file: process.execPath }
  const name = `node-${platform === 'win32' ? 'win' : platform}-${arch}@${major}`
  const tell = 'node -p "[process.versions.node, process.execPath].join(String.fromCharCode(10))"'
  const [version, file] = npm(`Node ${major} (${name})`, ['exec', '--yes', `--package=${name}`, '-c', tell])
    .trim()
    .split('\n')
  // With a cold cache npm would fall back on the node of the PATH.
  if (version.split('.')[0] !== major) throw new DownloadError(`npm exec ${name} ran Node ${version}`)
  return { version, file }
}

/** @returns The lowest release that satisfies the range. */
export function lowestOf(range) {
  const found = JSON.parse(npm(`the releases of axios@${range}`, ['view', `axios@${range}`, 'version', '--json']))
  const parts = (version) => version.split('.').map(Number)
  return [found].flat().sort((a, b) => parts(a).reduce((sign, part, n) => sign || part - parts(b)[n], 0))[0]
}

/**
 * Installs one axios and the packed package beside it, as a user does: npm rejects an axios outside the peer range.
 *
 * @returns `{ version, folder, file }`: the axios that was installed, and its CommonJS file.
 */
export function axiosOf(wanted, tarball, folder) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const install = (...args) =>
    npm(
      args.at(-1),
      ['install', '--package-lock=false', '--ignore-scripts', '--no-audit', '--no-fund', ...args],
      folder,
    )
  install('--save-exact', `axios@${wanted}`)
  install(tarball)
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', 'axios', 'package.json'), 'utf8'))
  return { version, folder, file: createRequire(join(folder, 'package.json')).resolve('axios') }
}

/** @returns `{ version, file, flags }` of a TypeScript: its compiler, and the flags that it needs to accept files. */
export function typescriptOf(wanted, folder) {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const quiet = ['--package-lock=false', '--ignore-scripts', '--no-audit', '--no-fund']
  npm(`TypeScript ${wanted}`, ['install', ...quiet, `typescript@${wanted}`], folder)
  const installed = join(folder, 'node_modules', 'typescript')
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  // From 6 on, tsc rejects files if there is a tsconfig.json, and there may be one above the folder.
  return { version, file: join(installed, 'bin', 'tsc'), flags: parseInt(version) < 6 ? [] : ['--ignoreConfig'] }
}

function npm(what, args, cwd) {
  // Offline, npm would try for minutes.
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=60000']
  try {
    return execFileSync('npm', [args[0], ...patience, ...args.slice(1)], {
      ...(cwd && { cwd }),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
    })
  } catch ({ message, stderr }) {
    const said = String(stderr).match(/^npm error (?! *at | +\w+: ).*$/gm) ?? [message]
    throw new DownloadError(`Could not get ${what}:\n${said.slice(0, 10).join('\n')}`)
  }
}
