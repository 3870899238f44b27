import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Without the second flag, frequent garbage collections would drop code that has not run for a while, and its new compilation would be measured. */
const FLAGS = ['--expose-gc', '--no-flush-bytecode']

/** Runs a module in a process of its own. @returns What the module sent. */
export async function inFreshProcess(module, args, execArgv = FLAGS) {
  const child = fork(module, args.map(String), { execArgv })
  const told = once(child, 'message').then(([results]) => ({ results }))
  const ended = once(child, 'exit').then(([code]) => ({ code }))
  const { results, code } = await Promise.race([told, ended])
  if (results === undefined)
    throw new Error(`${module.pathname} ${args.join(' ')} ended with ${code} and sent no result`)
  return results
}
