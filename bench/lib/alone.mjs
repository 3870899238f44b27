import { inFreshProcess } from './fresh-process.mjs'

const CHILD = new URL('../alone.mjs', import.meta.url)

/** Runs a scenario in a process of its own: the heap, the timers and the sockets of one are not measured with the next. */
export function alone(name, { quick }) {
  return inFreshProcess(CHILD, [name, ...(quick ? ['quick'] : [])])
}
