import { checkObject } from '../core/option-checks.ts'
import { member } from '../core/thrown.ts'
import { notifier } from '../store/notifier.ts'

/** A second connection, only for subscriptions: `client.duplicate()` of node-redis or ioredis, connected. */
export type RedisSubscriber = Emitter &
  (
    | { subscribe(channel: string, listener: (message: string) => void): unknown }
    | { subscribe(channel: string): unknown }
  )

interface Emitter {
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- The libraries declare their events.
  on(event: any, listener: (...given: any[]) => void): unknown
}

/** Messages are keys. They hold no tokens. */
export const CHANNEL = 'axios-evergreen'

/** Subscribes when the first owner watches, and again after each new connection. @throws {TypeError} naming the option. */
export function subscription(subscriber: RedisSubscriber): ReturnType<typeof notifier> {
  checkObject('subscriber', subscriber)
  if (['subscribe', 'on'].some((method) => typeof member(subscriber, method) !== 'function'))
    throw new TypeError(
      'subscriber must be a second client of node-redis or ioredis: pass client.duplicate(), connected',
    )
  const isIoredis = typeof member(subscriber, 'call') === 'function'
  let changed: (key: string) => void = () => undefined
  return notifier(
    (to) => {
      changed = (key) => to.changed(key)
      if (isIoredis) subscriber.on('message', (channel: unknown, key: string) => channel === CHANNEL && changed(key))
      subscriber.on('ready', () => to.subscribe())
      for (const lost of ['end', 'close', 'error', 'reconnecting']) subscriber.on(lost, () => to.lost())
      to.subscribe()
    },
    // ioredis would treat a function as a callback.
    () =>
      isIoredis
        ? (subscriber as Subscribing).subscribe(CHANNEL)
        : (subscriber as Subscribing).subscribe(CHANNEL, onMessage),
  )
  function onMessage(key: string): void {
    changed(key)
  }
}

interface Subscribing {
  subscribe(channel: string, listener?: (message: string) => void): unknown
}
