import { quietly } from '../core/thrown.ts'
import type { TokenRegister } from './token-register.ts'

/** Callbacks of a connection for notifications. */
export interface Notifications {
  /** The value of this key has changed. */
  changed(key: string): void
  /** Runs `subscribe`. Until it succeeds, and after `lost`, owners check the register as if there were no notifications. */
  subscribe(): void
  lost(): void
}

/**
 * Creates `watch` and `isWatching` of a register. @param begin Attaches to the connection when the first owner watches. @param subscribe Rejects on failure.
 */
export function notifier(
  begin: (to: Notifications) => void,
  subscribe: () => unknown,
): Required<Pick<TokenRegister, 'watch' | 'isWatching'>> {
  const watchers = new Set<(key?: string) => void>()
  let isLive = false
  let hasBegun = false
  const notify = (key?: string) => {
    for (const onChange of watchers) onChange(key)
  }
  const change = (isNowLive: boolean) => {
    if (isLive || isNowLive) {
      isLive = isNowLive
      // Changes may have been missed meanwhile.
      notify()
    }
  }
  const subscribed = async () => {
    await subscribe()
    change(true)
  }
  const notifications: Notifications = {
    changed: notify,
    lost: () => change(false),
    subscribe: () => void quietly(subscribed)?.catch(() => undefined),
  }
  return {
    watch(onChange) {
      watchers.add(onChange)
      if (!hasBegun) begin(notifications)
      hasBegun = true
      return () => void watchers.delete(onChange)
    },
    isWatching: () => isLive,
  }
}
