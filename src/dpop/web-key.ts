import { systemClock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { checkedText } from '../core/option-checks.ts'
import type { ProvingKey } from '../core/proofs.ts'
import { checkWebCrypto, warnOnce } from '../core/runtime.ts'
import { type Databases, indexedDatabases, transact } from '../web/indexed-db.ts'
import { reasonOf } from '../web/reason.ts'
import { dpopKey } from './dpop-key.ts'
import type { KeyPair } from './key-pair.ts'

/** A separate database, because `webStore` deletes unknown entries from its own. */
const DATABASE = 'axios-evergreen.dpop'
/** A page must not wait forever. Even a busy machine responds sooner. */
const LIMIT_MS = 10_000

/**
 * The key of this page's origin: an ES256 key pair in IndexedDB, whose private key no script can export. The first call generates it. All tabs and workers of
 * the origin get the same key for the same name, even if they call at the same time. A user who clears the site data must log in again. If the browser
 * denies storage, the page gets a key that lasts as long as the page, and a warning is emitted once.
 *
 * @example
 * ```ts
 * import { webKey } from 'axios-evergreen/dpop'
 *
 * const key = await webKey()
 * ```
 * @param name Distinguishes the keys of one origin. Default `default`.
 * @throws {TypeError} outside a browser, and in an insecure context.
 */
export async function webKey(name = 'default'): Promise<ProvingKey> {
  checkedText('name', name)
  checkWebCrypto('webKey', 'use bearer tokens')
  const databases = indexedDatabases()
  if (!databases) throw new TypeError('webKey needs IndexedDB, which only browsers have: use dpopKey(keyPair)')
  const own = await newPair()
  let pair = own
  try {
    const kept = stored(databases, name).then((found) => found ?? storedOrOwn(databases, name, own))
    pair = await withinLimit(kept, { clock: systemClock, ms: LIMIT_MS, atLimit: () => new Error() })
  } catch (error) {
    const advice = 'Other tabs have other keys, so each tab needs its own login, which ends with the page'
    warnOnce('storage-denied', `The DPoP key ${name} can be neither read nor stored: ${reasonOf(error)}`, advice)
  }
  const key = dpopKey(pair)
  // Two calls return two objects for one key. Only their thumbprints show that the key is the same.
  await key.thumbprint.catch(() => undefined)
  return key
}

function stored(databases: Databases, name: string): Promise<KeyPair | undefined> {
  return transact<KeyPair | undefined>(databases, DATABASE, 'readonly', (entries, resolve) => {
    entries.get(name).onsuccess = ({ target }) => resolve(target.result as KeyPair | undefined)
  })
}

/** @returns The pair that the first tab stored. A transaction cannot wait for WebCrypto, so each tab generates a pair beforehand. */
function storedOrOwn(databases: Databases, name: string, own: KeyPair): Promise<KeyPair> {
  return transact<KeyPair>(databases, DATABASE, 'readwrite', (entries, resolve) => {
    entries.get(name).onsuccess = ({ target }) => {
      const first = target.result as KeyPair | undefined
      if (!first) entries.put(own, name)
      resolve(first ?? own)
    }
  })
}

async function newPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
  // Plain members only, because IndexedDB clones plain objects.
  return { publicKey: pair.publicKey, privateKey: pair.privateKey }
}
