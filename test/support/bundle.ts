import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** All entries of `src` as one ESM file that a process of its own can run. */
export interface Bundle {
  readonly url: string
  remove(): Promise<void>
}

/** Built below node_modules, so that its imports are found by walking up. */
export async function bundleSource(): Promise<Bundle> {
  const dir = await mkdtemp(join('node_modules', '.evergreen-'))
  const file = join(dir, 'index.mjs')
  const external = ['axios', 'async-mutex', 'p-retry'].flatMap((name) => ['--external', name])
  const entry = join(dir, 'entry.mjs')
  const entries = ['index', 'redis/index', 'testing/index'].map((name) => resolve('src', `${name}.ts`))
  await writeFile(entry, entries.map((path) => `export * from ${JSON.stringify(path)}`).join('\n'))
  // As a process: rolldown is ESM only, and jest loads CommonJS.
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  await promisify(execFile)(process.execPath, [
    rolldown,
    entry,
    '--file',
    file,
    '--format',
    'esm',
    '--platform',
    'node',
    ...external,
  ])
  return { url: pathToFileURL(file).href, remove: () => rm(dir, { recursive: true }) }
}
