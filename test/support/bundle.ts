import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { builtOnce } from './built-once.ts'

/**
 * Bundles entries of the package into one ESM file that a separate process can run.
 *
 * @returns its address.
 */
export async function bundleSource(): Promise<string> {
  return pathToFileURL(join(await builtOnce('bundle', ['src', 'tools'], build), 'index.mjs')).href
}

async function build(dir: string): Promise<void> {
  const external = ['axios', 'async-mutex', 'p-retry'].flatMap((name) => ['--external', name])
  const entry = join(dir, 'entry.mjs')
  const names = ['index', 'dpop/index', 'fetch/index', 'login/index', 'mcp/index', 'oauth2/index', 'redis/index']
  names.push('sqlite/index', 'store/index', '../tools/testing/index')
  const entries = names.map((name) => resolve('src', `${name}.ts`))
  await writeFile(entry, entries.map((path) => `export * from ${JSON.stringify(path)}`).join('\n'))
  // As a process: rolldown is ESM only, and jest loads CommonJS.
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  const output = ['--file', join(dir, 'index.mjs'), '--format', 'esm', '--platform', 'node']
  await promisify(execFile)(process.execPath, [rolldown, entry, ...output, ...external])
}
