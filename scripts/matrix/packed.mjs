import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const consumers = fileURLToPath(new URL('../consumers', import.meta.url))
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)))

/** The users of the packed package that check-package.mjs has, beside another axios and under another Node. */
export function prepareConsumers(folder) {
  cpSync(consumers, folder, { recursive: true })
  const esm = readFileSync(join(folder, 'one-request.mjs'), 'utf8')
  writeFileSync(join(folder, 'one-request.cjs'), esm.replace(/^import (.+) from (.+)$/gm, 'const $1 = require($2)'))
}

/** @returns `{ passed, failed, seconds, failures }` */
export function runConsumers(node, { folder }) {
  const startedAt = performance.now()
  const programs = ['one-request.mjs', 'one-request.cjs', 'both-formats.mjs']
  const failures = programs.flatMap((program) => {
    try {
      execFileSync(node.file, [program], { cwd: folder, env, timeout: 60_000, stdio: ['ignore', 'pipe', 'pipe'] })
      return []
    } catch (error) {
      return [`${program}: ${error.stderr?.toString().trim() || error.message}`]
    }
  })
  const seconds = Math.round((performance.now() - startedAt) / 1000)
  return { passed: programs.length - failures.length, failed: failures.length, skipped: 0, seconds, failures }
}
