import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** Below node_modules, where Node finds what a bundle imports. */
const BUNDLES = join('node_modules', '.cache', 'evergreen')

/**
 * Bundles entries of `src` into one ESM file that a process of its own can run. The bundle is built once for all test files, and
 * again when a source has changed.
 *
 * @returns its address.
 */
export async function bundleSource(): Promise<string> {
  const folder = join(BUNDLES, digestOfSource())
  if (!existsSync(folder)) {
    await mkdir(BUNDLES, { recursive: true })
    const built = await build()
    // Another test file may have built the same bundle meanwhile: then that one stays.
    await rename(built, folder).catch(() => rm(built, { recursive: true }))
  }
  return pathToFileURL(join(folder, 'index.mjs')).href
}

function digestOfSource(): string {
  const names = readdirSync('src', { recursive: true }).map(String).sort()
  const files = names.filter((name) => name.endsWith('.ts'))
  const hash = createHash('sha256')
  for (const name of files) hash.update(`${name}\n`).update(readFileSync(join('src', name)))
  return hash.digest('hex').slice(0, 16)
}

async function build(): Promise<string> {
  const dir = await mkdtemp(join(BUNDLES, 'new-'))
  const external = ['axios', 'async-mutex', 'p-retry'].flatMap((name) => ['--external', name])
  const entry = join(dir, 'entry.mjs')
  const names = ['index', 'dpop/index', 'fetch/index', 'redis/index', 'sqlite/index', 'testing/index']
  const entries = names.map((name) => resolve('src', `${name}.ts`))
  await writeFile(entry, entries.map((path) => `export * from ${JSON.stringify(path)}`).join('\n'))
  // As a process: rolldown is ESM only, and jest loads CommonJS.
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  const output = ['--file', join(dir, 'index.mjs'), '--format', 'esm', '--platform', 'node']
  await promisify(execFile)(process.execPath, [rolldown, entry, ...output, ...external])
  return dir
}
