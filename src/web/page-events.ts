import type { AnomalyKind, Events, LoginEvents } from '../core/events.ts'
import { isSame, restored, type State, type TransferredError } from './worker-messages.ts'

/** Emits an event of the worker to the listeners of a page. */
export function relay(events: Events, name: keyof LoginEvents, event: object): void {
  const { kind, message, error } = event as { kind: AnomalyKind; message: string; error?: TransferredError }
  if (name === 'anomaly') events.anomaly(kind, message)
  else if (name === 'storeUnavailable') events.storeUnavailable(message)
  else events.emit(name, (error ? { ...event, error: restored(error) } : event) as never)
}

/** @returns The event that reports the login of this state. Undefined: the login is unknown or pending. */
export function changeIn(
  { status: { login, loginReason: reason } }: State,
  by: LoginEvents['loginChanged']['by'],
): LoginEvents['loginChanged'] | undefined {
  if (login === undefined || login === 'pending') return undefined
  return { login, by, account: 'unknown', ...(reason && { reason }) }
}

/** Whether the login is the same in both states, so there is nothing to report. */
export function isSameLogin(before: State, now: State): boolean {
  return before.status.login === now.status.login && isSame(before.login, now.login)
}
