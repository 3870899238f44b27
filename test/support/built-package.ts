import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { builtOnce } from './built-once.ts'

/** A folder in which programs find the built package, and everything that is installed here. */
export interface BuiltPackage {
  readonly dir: string
  /** Runs a Node process, to its end. */
  run(args: string[], env?: NodeJS.ProcessEnv): Promise<{ code: number; printed: string }>
  remove(): Promise<void>
}

/** No program takes that long, even on a slow machine. */
const HANGS_MS = 540_000

/** Puts the built package below node_modules, where Node finds what it imports. */
export async function buildPackage(): Promise<BuiltPackage> {
  const dist = await builtOnce('package', SOURCES, build)
  const dir = await mkdtemp(join('node_modules', '.evergreen-'))
  const built = join(dir, 'node_modules', 'axios-evergreen')
  await cp('package.json', join(built, 'package.json'))
  await cp(dist, join(built, 'dist'), { recursive: true })
  // Without a package.json here, bundlers would resolve `axios-evergreen` to the surrounding project, with whatever `dist` is there.
  await writeFile(join(dir, 'package.json'), '{ "private": true }')
  return { dir, run, remove: () => rm(dir, { recursive: true }) }
}

const SOURCES = ['src', 'tools', 'scripts/lib/entries.mjs', 'rolldown.config.mjs', 'package.json', 'package-lock.json']

async function build(dir: string): Promise<void> {
  // As a process: rolldown is ESM only, and jest loads CommonJS.
  const { code, printed } = await run([
    '--input-type=module',
    '--eval',
    `import { build } from 'rolldown'
     const { default: configs } = await import(${JSON.stringify(pathToFileURL(resolve('rolldown.config.mjs')).href)})
     for (const { output, ...input } of configs)
       await build({ ...input, output: { ...output, dir: output.dir.replace(/^dist/, ${JSON.stringify(dir)}) } })`,
  ])
  if (code !== 0) throw new Error(printed)
}

function run(args: string[], env: NodeJS.ProcessEnv = {}): Promise<{ code: number; printed: string }> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, timeout: HANGS_MS }
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, printed: stdout + stderr }),
    )
  })
}
