import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Below node_modules, where Node finds what a bundle imports. */
const BUILDS = join('node_modules', '.cache', 'evergreen')

/**
 * Builds once for all test files, and again when a source has changed.
 *
 * @param name Distinguishes builds of the same sources.
 * @param sources Files, and folders without what is installed in them.
 * @param build Receives an empty folder.
 * @returns The folder. It must not be written to.
 */
export async function builtOnce(
  name: string,
  sources: readonly string[],
  build: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(BUILDS, `${name.replace(/\W+/g, '-')}-${digestOf(sources)}`)
  if (existsSync(folder)) return folder
  await mkdir(BUILDS, { recursive: true })
  const made = await mkdtemp(join(BUILDS, 'new-'))
  await build(made)
  // Another test file may have built the same in the meantime: then that build stays.
  await rename(made, folder).catch(() => rm(made, { recursive: true }))
  return folder
}

function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of sources.flatMap(filesIn)) hash.update(`${file}\n`).update(readFileSync(file))
  return hash.digest('hex').slice(0, 16)
}

function filesIn(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path).filter((name) => name !== 'node_modules')
  return names.sort().flatMap((name) => filesIn(join(path, name)))
}
