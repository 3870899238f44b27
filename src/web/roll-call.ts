import type { Clock } from '../core/clock.ts'
import { openChannel } from './channel.ts'

/** On this channel a page asks for an owner by name, and the owner responds with `ALIVE` and its name. */
const NAME = 'axios-evergreen.lives'
const ALIVE = 'lives:'
/** How long a page waits for a response, ms. An owner that only waits for the token service responds sooner. */
const PATIENCE_MS = 500

/**
 * Responds for that owner, until the browser freezes this page: some browsers still deliver messages to a frozen page.
 *
 * @returns A function that stops this, and calls `onStop`.
 */
export function replyTo(owner: string, onStop?: () => void): () => void {
  const channel = openChannel(NAME)
  const { document } = globalThis as { document?: Pick<EventTarget, 'addEventListener' | 'removeEventListener'> }
  const stop = () => {
    document?.removeEventListener('freeze', stop)
    channel?.close()
    onStop?.()
  }
  document?.addEventListener('freeze', stop)
  channel?.addEventListener('message', ({ data }) => data === owner && channel.postMessage(ALIVE + owner))
  return stop
}

/** Whether that owner, in another tab, responds. */
export function isAlive(owner: string, clock: Clock): Promise<boolean> {
  const channel = openChannel(NAME)
  if (!channel) return Promise.resolve(false)
  return new Promise<boolean>((resolve) => {
    const cancel = clock.setTimer(() => resolve(false), PATIENCE_MS, true)
    channel.addEventListener('message', ({ data }) => {
      if (data !== ALIVE + owner) return
      cancel()
      resolve(true)
    })
    channel.postMessage(owner)
  }).finally(() => channel.close())
}
