import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutProxies } from '../lib/built.mjs'

const consumers = fileURLToPath(new URL('../consumers', import.meta.url))
const typeRoots = fileURLToPath(new URL('../../node_modules/@types', import.meta.url))
const env = withoutProxies()

/** Puts the consumers of check-package.mjs into a folder with another axios. */
export function prepareConsumers(folder) {
  cpSync(consumers, folder, { recursive: true })
  const esm = readFileSync(join(folder, 'one-request.mjs'), 'utf8')
  for (const typed of ['one-request.mts', 'one-request.cts']) writeFileSync(join(folder, typed), esm)
  writeFileSync(join(folder, 'one-request.cjs'), esm.replace(/^import (.+) from (.+)$/gm, 'const $1 = require($2)'))
}

/** @returns `{ passed, failed, skipped, seconds, failures }` */
export function runConsumers(node, { folder }) {
  const programs = ['one-request.mjs', 'one-request.cjs', 'both-formats.mjs']
  return outcomeOf(programs, (program) => run(node.file, [program], folder))
}

/** Compiles the consumers, with all declarations, by the TypeScript that a user may have. @returns as `runConsumers`. */
export function compileConsumers({ file, flags }, { folder }) {
  const types = ['--types', 'node', '--typeRoots', typeRoots, '--skipLibCheck', 'false']
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022', ...types]
  return outcomeOf(['one-request.mts', 'one-request.cts'], (program) =>
    run(process.execPath, [file, ...flags, ...options, program], folder),
  )
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, env, timeout: 600_000, stdio: ['ignore', 'pipe', 'pipe'] })
}

function outcomeOf(programs, act) {
  const startedAt = performance.now()
  const failures = programs.flatMap((program) => {
    try {
      act(program)
      return []
    } catch ({ stderr, stdout, message }) {
      return [`${program}: ${stderr?.toString().trim() || stdout?.toString().trim() || message}`]
    }
  })
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  return { passed: programs.length - failures.length, failed: failures.length, skipped: 0, seconds, failures }
}
