import { checkObject } from '../core/option-checks.ts'
import { member } from '../core/thrown.ts'
import { notifier } from '../store/notifier.ts'

/** A connected `Client` of pg, only for notifications. It must not come from a pool, which would share it. */
export interface PostgresListener {
  query(text: string): Promise<unknown>
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- The library declares its events.
  on(event: any, listener: (...given: any[]) => void): unknown
}

/** Messages are keys. They hold no tokens. */
export const CHANNEL = 'axios_evergreen'

/**
 * Starts to listen when the first owner watches. pg does not reconnect: after a loss, owners poll as if there were no listener. @throws {TypeError} naming the
 * option.
 */
export function listening(listener: PostgresListener): ReturnType<typeof notifier> {
  checkObject('listener', listener)
  if (['query', 'on'].some((method) => typeof member(listener, method) !== 'function'))
    throw new TypeError('listener must be a connected Client of pg, which nothing else uses')
  return notifier(
    (to) => {
      listener.on('notification', ({ channel, payload }: { channel?: unknown; payload?: string }) => {
        if (channel === CHANNEL && payload !== undefined) to.changed(payload)
      })
      for (const lost of ['end', 'error']) listener.on(lost, () => to.lost())
      to.subscribe()
    },
    () => listener.query(`LISTEN ${CHANNEL}`),
  )
}
