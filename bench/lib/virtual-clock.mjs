import { manualClock } from '../evergreen.mjs'

/** `manualClock`, which also goes to an instant of its own. */
export function virtualClock() {
  const clock = manualClock()
  /** Nothing happens where that instant has passed. */
  const runTo = (at) => clock.advance(Math.max(0, at - clock.monotonicNow()))
  return Object.assign(clock, { runTo })
}
