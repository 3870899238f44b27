import { readFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { fileURLToPath } from 'node:url'

/** What a figure depends on besides the code. */
export function machine() {
  const all = cpus()
  return {
    cpu: all[0]?.model.trim() ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

/** The exact version of the package, of axios and of each contestant, by name. */
export function versions() {
  const { name, version, devDependencies } = json('../../package.json')
  const contestants = json('../package.json').dependencies
  return { [name]: version, axios: devDependencies.axios, ...contestants }
}

function json(path) {
  return JSON.parse(readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8'))
}
