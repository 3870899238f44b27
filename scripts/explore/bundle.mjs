import { build } from 'esbuild'
import { mkdir, readFile } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REMOVALS } from './removals.mjs'

const project = fileURLToPath(new URL('../..', import.meta.url))
// Below node_modules, so that the imports of a bundle are found by walking up.
const folder = join(project, 'node_modules', '.cache', 'explore')

/** Random names that are the same in each run, and synchronous hashing: the scheduler then knows when a process can do nothing more. */
const DIGEST = `
import { createHash } from 'node:crypto'
const known = new Map()
export const hexOf = (bytes) => Buffer.from(bytes).toString('hex')
export const randomHex = () => crypto.randomUUID()
export const fingerprintOf = async (token) => (await digestOf('SHA-256', token)).slice(0, 8)
export async function digestOf(algorithm, text) {
  if (!known.has(text)) known.set(text, createHash(algorithm.replace('-', '')).update(text).digest('hex'))
  return known.get(text)
}`

function asOfProcess(source) {
  const declaration = 'let responsesOfProcess = 0\n'
  if (!source.includes(declaration)) throw new Error(`store/steps.ts does not have '${declaration.trim()}'`)
  return source.replace(declaration, '').replaceAll('responsesOfProcess', 'globalThis.runningProcess.answered')
}

/**
 * The explorer and the real sources as one file that a separate process runs.
 *
 * @param entry In `test/exhaustive`, or with its folder.
 * @param without The rule that is taken out, by its name in `removals.mjs`.
 * @returns its path.
 */
export async function bundle(entry, without) {
  if (without !== undefined && !Object.hasOwn(REMOVALS, without)) throw new Error(`There is no rule '${without}'`)
  const edits = without === undefined ? [] : REMOVALS[without]
  const done = new Set()
  const [name, room = 'exhaustive'] = entry.split('/').reverse()
  const outfile = join(folder, `${name}-${without ?? 'all'}-${process.pid}.mjs`)
  await mkdir(folder, { recursive: true })
  const alter = async ({ path }) => {
    const name = path.split(sep).slice(-2).join('/')
    if (name === 'core/digest.ts') return { contents: DIGEST, loader: 'js' }
    let contents = await readFile(path, 'utf8')
    for (const edit of edits.filter(([file]) => file === name)) {
      const [, from, to] = edit
      if (contents.split(from).length !== 2) throw new Error(`${name} does not have '${from}' once`)
      contents = contents.replace(from, () => to)
      done.add(edit)
    }
    // Each owner is a process of its own, so it does not count the responses that another one reads.
    if (name === 'store/steps.ts') contents = asOfProcess(contents)
    return { contents, loader: 'ts' }
  }
  await build({
    entryPoints: [join(project, 'test', room, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['axios', 'p-retry', 'async-mutex'],
    logLevel: 'warning',
    plugins: [{ name: 'alter', setup: ({ onLoad }) => void onLoad({ filter: /src[/\\].*\.ts$/ }, alter) }],
  })
  if (done.size !== edits.length) throw new Error(`Not all of rule ${without} was taken out`)
  return outfile
}
