import type { Clock } from './clock.ts'

/**
 * Runs `onPassed` once `delayMs` have passed, but not before the event loop has read what had come by then. Node runs timers
 * before it reads sockets: a loop that was busy for long fires the timer of a call whose answer arrived in time. A timer that
 * comes late therefore grants two more turns of the loop.
 *
 * @returns cancel
 */
export function setDeadline(clock: Clock, delayMs: number, onPassed: () => void, holdsProcess = false): () => void {
  const dueAt = clock.monotonicNow() + delayMs
  const nextTurn = (callback: () => void) => void (cancel = clock.setTimer(callback, 0, holdsProcess))
  let cancel = clock.setTimer(
    () => {
      if (clock.monotonicNow() <= dueAt) onPassed()
      else nextTurn(() => nextTurn(onPassed))
    },
    delayMs,
    holdsProcess,
  )
  return () => cancel()
}

export interface Limit {
  readonly clock: Clock
  readonly ms: number
  /** Whether the limit keeps the process alive: that of a waiting caller does. */
  readonly holdsProcess?: boolean
  /** Ends the wait at once, with its reason. */
  readonly signal?: AbortSignal | undefined
  /** Called when the limit has passed. @returns what the wait rejects with */
  readonly atLimit: () => unknown
}

/** Waits for `work`, which goes on whatever becomes of the wait. @throws what `work` throws; `atLimit()`; `signal.reason`. */
export function withinLimit<Value>(work: Promise<Value>, limit: Limit): Promise<Value> {
  const { clock, ms, holdsProcess, signal, atLimit } = limit
  return new Promise((resolve, reject) => {
    const ending =
      <Given>(settle: (given: Given) => void) =>
      (given: Given): void => {
        cancel()
        signal?.removeEventListener('abort', onAbort)
        settle(given)
      }
    const fail = ending(reject)
    const onAbort = () => fail(signal?.reason)
    const cancel = setDeadline(clock, ms, () => fail(atLimit()), holdsProcess)
    work.then(ending(resolve), fail)
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
  })
}
