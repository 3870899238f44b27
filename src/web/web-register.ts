import type { TokenRegister } from '../store/token-register.ts'
import { type Channel, openChannel } from './channel.ts'
import { type Databases, type Entries, transact } from './indexed-db.ts'

interface Entry {
  readonly value: string
  /** Epoch ms. */
  readonly until: number
}

/** Names the database, and the channel on which tabs notify each other of changes. */
const NAME = 'axios-evergreen'

/**
 * A register in IndexedDB: one entry per key. A read and the write that follows are one transaction, and all tabs and workers of an origin see transactions
 * in one order. localStorage cannot do this, even with Web Locks: each browser process reads its own copy, which may be outdated.
 */
export function webRegister(databases: Databases): TokenRegister {
  return {
    kind: 'web',

    read: (key) =>
      transact(databases, NAME, 'readonly', (entries, resolveWith) => {
        entries.get(key).onsuccess = ({ target }) => {
          const now = Date.now()
          const value = validValue(target.result, now)
          resolveWith({ now, ...(value !== undefined && { value }) })
        }
      }),

    async replace(key, expected, value, keepMs) {
      const replaced = await transact<boolean>(databases, NAME, 'readwrite', (entries, resolveWith) => {
        entries.get(key).onsuccess = ({ target }) => {
          const now = Date.now()
          const isExpected = validValue(target.result, now) === expected
          resolveWith(isExpected)
          if (!isExpected) return
          entries.put({ value, until: now + keepMs } satisfies Entry, key)
          dropExpired(entries, now)
        }
      })
      if (replaced) withChannel((channel) => channel.postMessage(key))
      return replaced
    },

    watch: (onChange) => withChannel((channel) => channel.addEventListener('message', () => onChange()), 'open'),
  }
}

/** @returns The value of the entry; undefined if the entry has expired, or another script wrote it. */
function validValue(entry: unknown, now: number): string | undefined {
  const { value, until } = (entry ?? {}) as Partial<Entry>
  return typeof value === 'string' && typeof until === 'number' && until > now ? value : undefined
}

/** Deletes expired entries: tokens of users who no longer use this browser must not stay forever. */
function dropExpired(entries: Entries, now: number): void {
  entries.openCursor().onsuccess = ({ target: { result: at } }) => {
    if (!at) return
    if (validValue(at.value, now) === undefined) at.delete()
    at.continue()
  }
}

/** @returns A function that closes the channel. */
function withChannel(use: (channel: Channel) => void, keep?: 'open'): () => void {
  const channel = openChannel(NAME)
  // Without BroadcastChannel, waiting owners read the record about once a second.
  if (!channel) return () => undefined
  use(channel)
  const close = () => channel.close()
  if (!keep) close()
  return close
}
