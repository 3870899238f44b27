import type { Clock } from './clock.ts'
import { kindOf, wrong } from './option-checks.ts'
import { bare } from './whole.ts'

/**
 * Runs `onPassed` after `delayMs`, but not before the event loop has read the data that arrived in time. Node runs timers before
 * it reads sockets: if the event loop was blocked, a request would time out although its response arrived in time. A timer that
 * fires late therefore waits for two more turns of the event loop.
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
  /** Whether the timer keeps the process alive, as it must for a waiting caller. */
  readonly holdsProcess?: boolean
  /** An abort ends the wait at once. */
  readonly signal?: AbortSignal | undefined
  /** Called at the limit. @returns what the wait rejects with */
  readonly atLimit: () => unknown
}

/** Waits for `work` until the limit, and does not stop `work`. @throws what `work` throws; `atLimit()`; `signal.reason`. */
export function withinLimit<Value>(work: Promise<Value>, limit: Limit): Promise<Value> {
  const { clock, ms, holdsProcess, signal, atLimit } = bare(limit)
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
 * Replaces `throwIfAborted`: signals of polyfills, such as those of React Native, have neither that method nor a reason.
 *
 * @throws the reason of an aborted signal; {TypeError} naming the option if it is not a signal.
 */
export function checkNotAborted(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return
  const { aborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function')
    throw wrong('signal', 'an AbortSignal', `${kindOf(signal)}: pass controller.signal`)
  if (aborted) throw reasonOf(signal)
}

/** @returns The reason of an aborted signal. */
export function reasonOf(signal: AbortSignal): unknown {
  if ('reason' in signal) return signal.reason
  return Object.assign(new Error('The caller gave up: its signal was aborted'), { name: 'AbortError' })
}
