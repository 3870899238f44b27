import { fork } from 'node:child_process'
import { once } from 'node:events'

const CHILD = new URL('../alone.mjs', import.meta.url)

/** Runs a scenario in a process of its own: the heap, the timers and the sockets of one are not measured with the next. */
export async function alone(name, { quick }) {
  const child = fork(CHILD, [name, ...(quick ? ['quick'] : [])], { execArgv: ['--expose-gc'] })
  const told = once(child, 'message').then(([results]) => ({ results }))
  const ended = once(child, 'exit').then(([code]) => ({ code }))
  const { results, code } = await Promise.race([told, ended])
  if (results === undefined) throw new Error(`${name} ended with ${code} and told nothing`)
  return results
}
