import type { TokenRegister } from '../store/token-register.ts'
import { type Databases, type Entries, transact } from './indexed-db.ts'

interface Entry {
  readonly value: string
  /** Epoch ms. */
  readonly until: number
}

/** Names the database, and the channel on which tabs tell each other that it has changed. */
const NAME = 'axios-evergreen'

/**
 * One entry of IndexedDB per key. A read and the write that follows it are one transaction, and all tabs and workers of an origin see transactions
 * in one order. (Not so with localStorage, even under a Web Lock: each process of the browser reads its own copy, and the lock may come before the news.)
 */
export function webRegister(databases: Databases): TokenRegister {
  return {
    kind: 'web',

    read: (key) =>
      transact(databases, NAME, 'readonly', (entries, answer) => {
        entries.get(key).onsuccess = ({ target }) => {
          const now = Date.now()
          const value = standing(target.result, now)
          answer({ now, ...(value !== undefined && { value }) })
        }
      }),

    async replace(key, expected, value, keepMs) {
      const replaced = await transact<boolean>(databases, NAME, 'readwrite', (entries, answer) => {
        entries.get(key).onsuccess = ({ target }) => {
          const now = Date.now()
          const isExpected = standing(target.result, now) === expected
          answer(isExpected)
          if (!isExpected) return
          entries.put({ value, until: now + keepMs } satisfies Entry, key)
          dropEnded(entries, now)
        }
      })
      if (replaced) withChannel((channel) => channel.postMessage(key))
      return replaced
    },

    watch: (onChange) => withChannel((channel) => channel.addEventListener('message', onChange), 'open'),
  }
}

/** @returns What stands there. Anything that we have not put there counts as absent. */
function standing(entry: unknown, now: number): string | undefined {
  const { value, until } = (entry ?? {}) as Partial<Entry>
  return typeof value === 'string' && typeof until === 'number' && until > now ? value : undefined
}

/** Tokens of people who no longer use this browser must not lie there for ever. */
function dropEnded(entries: Entries, now: number): void {
  entries.openCursor().onsuccess = ({ target: { result: at } }) => {
    if (!at) return
    if (standing(at.value, now) === undefined) at.delete()
    at.continue()
  }
}

/** Opened for each use: a page that holds a channel may not be kept in the back/forward cache. @returns close */
function withChannel(use: (channel: Channel) => void, keep?: 'open'): () => void {
  const { BroadcastChannel } = globalThis as { BroadcastChannel?: new (name: string) => Channel }
  // Where there is none, those who wait ask again every second.
  if (!BroadcastChannel) return () => undefined
  const channel = new BroadcastChannel(NAME)
  use(channel)
  const close = () => channel.close()
  if (!keep) close()
  return close
}

interface Channel {
  postMessage(message: string): void
  addEventListener(type: 'message', listener: () => void): void
  close(): void
}
