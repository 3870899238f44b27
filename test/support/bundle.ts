import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/** `src/index.ts` as an ESM file that a process of its own can run. */
export interface Bundle {
  readonly url: string
  remove(): Promise<void>
}

/** Built below node_modules, so that its imports are found by walking up. */
export async function bundleSource(): Promise<Bundle> {
  const dir = await mkdtemp(join('node_modules', '.evergreen-'))
  const file = join(dir, 'index.mjs')
  const external = ['axios', 'async-mutex', 'p-retry'].flatMap((name) => ['--external', name])
  // As a process: rolldown is ESM only, and jest loads CommonJS.
  const rolldown = join('node_modules', 'rolldown', 'bin', 'cli.mjs')
  await promisify(execFile)(process.execPath, [
    rolldown,
    'src/index.ts',
    '--file',
    file,
    '--format',
    'esm',
    ...external,
  ])
  return { url: pathToFileURL(file).href, remove: () => rm(dir, { recursive: true }) }
}
