import type { Clock } from './clock.ts'
import { kindOf, wrong } from './option-checks.ts'

/**
 * Runs `onPassed` after `delayMs`, but lets the event loop first read the data that arrived before. Node runs timers before
 * it reads sockets: after a long busy stretch it fires the timer of a call whose answer arrived in time. A timer that fires
 * late therefore waits for two more turns of the loop.
 *
 * @returns a function that cancels the deadline.
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
  /** Whether the timer keeps the process alive: it does for a waiting caller. */
  readonly holdsProcess?: boolean
  /** An abort ends the wait at once. */
  readonly signal?: AbortSignal | undefined
  /** Called when the limit has passed. @returns what the wait rejects with */
  readonly atLimit: () => unknown
}

/** Waits for `work`. The end of the wait does not stop `work`. @throws what `work` throws; `atLimit()`; `signal.reason`. */
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
    const onAbort = () => fail(signal && reasonOf(signal))
    const cancel = setDeadline(clock, ms, () => fail(atLimit()), holdsProcess)
    work.then(ending(resolve), fail)
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
  })
}

/**
 * Not by `throwIfAborted`: signals of polyfills, such as those of React Native, have neither that method nor a reason.
 *
 * @throws why the signal is aborted; {TypeError} naming the option if it is no signal.
 */
export function checkNotAborted(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return
  const { aborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function')
    throw wrong('signal', 'an AbortSignal', `${kindOf(signal)}: pass controller.signal`)
  if (aborted) throw reasonOf(signal)
}

/** @returns Why the signal is aborted. */
export function reasonOf(signal: AbortSignal): unknown {
  if ('reason' in signal) return signal.reason
  return Object.assign(new Error('The caller gave up: its signal was aborted'), { name: 'AbortError' })
}
