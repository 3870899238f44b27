import { withinLimit } from '../core/deadline.ts'
import { systemClock } from '../core/clock.ts'
import { member } from '../core/thrown.ts'
import { checkText } from '../core/option-checks.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { randomHex } from '../core/digest.ts'
import { type Databases, indexedDatabases, transact } from './indexed-db.ts'

/** What the type `CryptoKey` of the DOM is, also where its names are not declared. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

/** The database of the keys. It is not that of the tokens: its entries have no end. */
const NAME = 'axios-evergreen.keys'
/** A page must not wait for a key for ever. A machine that is only busy answers before. */
const LIMIT_MS = 10_000

/** The ids of keys that only this page has, because they could not be kept. */
const PAGE_KEYS = /* @__PURE__ */ new Set<string>()

/** Whether no other tab can have this key, so that nothing may be shared that is sealed with it. */
export function isPageKey(entry: unknown): boolean {
  const id = member(entry, 'id')
  return typeof id === 'string' && PAGE_KEYS.has(id)
}

/**
 * A key of this origin for `encryptionKeys`. WebCrypto makes it, and IndexedDB keeps it. No script can read the key, so a copy of the sealed tokens is
 * useless elsewhere. A script of the page can use the key, though. All tabs and workers of the origin get the same one. Where the browser denies its
 * storage, the page gets a key of its own, and `webStore` keeps the tokens in the memory of this tab.
 *
 * @example
 * ```ts
 * import { browserKey, webStore } from 'axios-evergreen/web'
 *
 * const store = webStore({ encryptionKeys: [browserKey()] })
 * ```
 * @param name Tells several keys of an origin apart. Default `browser`. It is the id of the key, too.
 * @returns An AES-GCM key of 256 bits that cannot be exported.
 * @throws {TypeError} naming the argument; on a page that is no secure context.
 */
export async function browserKey(name = 'browser'): Promise<{ id: string; key: Key }> {
  checkText('name', name)
  checkWebCrypto('browserKey()', 'do without a key')
  try {
    const databases = indexedDatabases()
    if (!databases) throw new Error('no IndexedDB')
    const kept = keptKey(databases, name)
    return { id: name, key: await withinLimit(kept, { clock: systemClock, ms: LIMIT_MS, atLimit: () => new Error() }) }
  } catch {
    // Under an id of its own: a record that another tab has sealed is then one of an unknown key, and is left alone.
    const id = `${name} ${randomHex()}`
    PAGE_KEYS.add(id)
    return { id, key: await newKey() }
  }
}

async function keptKey(databases: Databases, name: string): Promise<Key> {
  const found = await transact<unknown>(databases, NAME, 'readonly', (entries, answer) => {
    entries.get(name).onsuccess = ({ target }) => answer(target.result)
  })
  if (isKey(found)) return found
  // Before the transaction, which ends while WebCrypto works.
  const made = await newKey()
  return transact<Key>(databases, NAME, 'readwrite', (entries, answer) => {
    entries.get(name).onsuccess = ({ target: { result } }) => {
      // Of tabs that ask at once, all but the first find its key here.
      answer(isKey(result) ? result : made)
      if (!isKey(result)) entries.put(made, name)
    }
  })
}

function newKey(): Promise<Key> {
  return crypto.subtle.generateKey({ name: 'AES-GCM', length: 256 }, false, ['encrypt', 'decrypt'])
}

/** Another script of the origin may have put anything there. */
function isKey(entry: unknown): entry is Key {
  return Object.prototype.toString.call(entry) === '[object CryptoKey]' && (entry as Key).algorithm.name === 'AES-GCM'
}
