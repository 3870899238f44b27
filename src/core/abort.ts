import { kindOf } from './option-checks.ts'

/**
 * Not by `throwIfAborted`: signals of polyfills, such as those of React Native, have neither that method nor a reason.
 *
 * @throws why the signal is aborted; {TypeError} naming the option if it is no signal.
 */
export function checkNotAborted(signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return
  const { aborted, addEventListener } = signal as Partial<AbortSignal>
  if (typeof aborted !== 'boolean' || typeof addEventListener !== 'function')
    throw new TypeError(`signal must be an AbortSignal, got ${kindOf(signal)}: pass controller.signal`)
  if (aborted) throw reasonOf(signal)
}

/** @returns Why the signal is aborted. */
export function reasonOf(signal: AbortSignal): unknown {
  if ('reason' in signal) return signal.reason
  return Object.assign(new Error('The caller gave up: its signal was aborted'), { name: 'AbortError' })
}
