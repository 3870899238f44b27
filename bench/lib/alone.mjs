import { inFreshProcess } from './fresh-process.mjs'

const CHILD = new URL('../alone.mjs', import.meta.url)

/** Runs a scenario in a process of its own, so that its heap, timers and sockets do not disturb the next one. */
export function alone(name, { quick }) {
  return inFreshProcess(CHILD, [name, ...(quick ? ['quick'] : [])])
}
