import { TokenError } from '../core/errors.ts'
import { checkText } from '../core/option-checks.ts'
import type { ProvingKey } from '../core/proofs.ts'
import { checkWebCrypto } from '../core/runtime.ts'
import { type Databases, indexedDatabases, transact } from '../web/indexed-db.ts'
import { reasonOf } from '../web/reason.ts'
import { dpopKey } from './dpop-key.ts'
import type { KeyPair } from './key-pair.ts'

/** Not the database of `webStore`, which deletes what it does not know. */
const DATABASE = 'axios-evergreen-dpop'

/**
 * The key of this page's origin: an ES256 key pair that no script can read, kept in IndexedDB. The first call makes it. All tabs and workers of the
 * origin that ask for the same name get the same key, however many ask at once. Who clears the data of the site must log in again.
 *
 * @example
 * ```ts
 * import { webKey } from 'axios-evergreen/dpop'
 *
 * const key = await webKey()
 * ```
 * @param name Tells the keys of one origin apart. Default `default`.
 * @throws {TypeError} outside a browser, and on a page that is no secure context.
 * @throws {TokenError} `ERR_STORE_UNAVAILABLE` if the browser denies its storage; the message says why.
 */
export async function webKey(name = 'default'): Promise<ProvingKey> {
  checkText('name', name)
  checkWebCrypto('webKey', 'use bearer tokens')
  const databases = indexedDatabases()
  if (!databases) throw new TypeError('webKey needs IndexedDB, which only browsers have: use dpopKey(keyPair)')
  try {
    const pair = (await stored(databases, name)) ?? (await agreed(databases, name, await newPair()))
    return dpopKey(pair)
  } catch (error) {
    if (error instanceof TypeError) throw error
    const message = `The key ${name} can neither be read nor kept: ${reasonOf(error)}; dpopKey(keyPair) makes a key for this page alone`
    throw new TokenError('ERR_STORE_UNAVAILABLE', message)
  }
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
