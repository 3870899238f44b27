import { manualClock } from '../evergreen.mjs'

/** `manualClock`, with `runTo`, which goes to an instant of the monotonic clock. */
export function virtualClock() {
  const clock = manualClock()
  /** Does nothing if the instant has passed. */
  const runTo = (at) => clock.advance(Math.max(0, at - clock.monotonicNow()))
  return Object.assign(clock, { runTo })
}
