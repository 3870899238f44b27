import { systemClock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { checkText } from '../core/option-checks.ts'
import type { ProvingKey } from '../core/proofs.ts'
import { checkWebCrypto, warnOnce } from '../core/runtime.ts'
import { type Databases, indexedDatabases, transact } from '../web/indexed-db.ts'
import { reasonOf } from '../web/reason.ts'
import { dpopKey } from './dpop-key.ts'
import type { KeyPair } from './key-pair.ts'

/** Not the database of `webStore`, which deletes what it does not know. */
const DATABASE = 'axios-evergreen.dpop'
/** A page must not wait for a key for ever. A machine that is only busy answers before. */
const LIMIT_MS = 10_000

/**
 * The key of this page's origin: an ES256 key pair that no script can read, kept in IndexedDB. The first call makes it. All tabs and workers of the
 * origin that ask for the same name get the same key, however many ask at once. Who clears the data of the site must log in again. Where the browser
 * denies its storage, the page gets a key of its own, which lasts as long as the page, and a warning says so once.
 *
 * @example
 * ```ts
 * import { webKey } from 'axios-evergreen/dpop'
 *
 * const key = await webKey()
 * ```
 * @param name Tells the keys of one origin apart. Default `default`.
 * @throws {TypeError} outside a browser, and on a page that is no secure context.
 */
export async function webKey(name = 'default'): Promise<ProvingKey> {
  checkText('name', name)
  checkWebCrypto('webKey', 'use bearer tokens')
  const databases = indexedDatabases()
  if (!databases) throw new TypeError('webKey needs IndexedDB, which only browsers have: use dpopKey(keyPair)')
  const own = await newPair()
  let pair = own
  try {
    const kept = stored(databases, name).then((found) => found ?? agreed(databases, name, own))
    pair = await withinLimit(kept, { clock: systemClock, ms: LIMIT_MS, atLimit: () => new Error() })
  } catch (error) {
    const advice = 'Other tabs have other keys, so each needs a login of its own, which ends with its page'
    warnOnce('storage-denied', `The DPoP key ${name} can neither be read nor kept: ${reasonOf(error)}`, advice)
  }
  const key = dpopKey(pair)
  // Two calls give two objects of one key. They can be told to be the same only by their thumbprints.
  await key.thumbprint.catch(() => undefined)
  return key
}

function stored(databases: Databases, name: string): Promise<KeyPair | undefined> {
  return transact<KeyPair | undefined>(databases, DATABASE, 'readonly', (entries, answer) => {
    entries.get(name).onsuccess = ({ target }) => answer(target.result as KeyPair | undefined)
  })
}

/** @returns The pair that the first tab has stored. A transaction cannot wait for WebCrypto, so each tab brings a pair of its own. */
function agreed(databases: Databases, name: string, own: KeyPair): Promise<KeyPair> {
  return transact<KeyPair>(databases, DATABASE, 'readwrite', (entries, answer) => {
    entries.get(name).onsuccess = ({ target }) => {
      const first = target.result as KeyPair | undefined
      if (!first) entries.put(own, name)
      answer(first ?? own)
    }
  })
}

async function newPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
  // Without the methods of a `CryptoKeyPair`, if there are such: IndexedDB clones plain objects.
  return { publicKey: pair.publicKey, privateKey: pair.privateKey }
}
