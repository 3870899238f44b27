import { checkedDuration, readOptions } from '../core/option-checks.ts'
import { isPromise } from '../core/thrown.ts'
import type { OpenableStore, TokenStore } from '../core/token-store.ts'
import type { GivenEncryptionKey } from '../store/sealed-box.ts'
import { SHARED, type SharedStoreOptions, storeOn } from '../store/shared-store.ts'
import { isPageKey } from './browser-key.ts'
import { deniableStore } from './deniable-store.ts'
import { indexedDatabases } from './indexed-db.ts'
import { livingStore } from './living-store.ts'
import { StorageAccess } from './storage-access.ts'
import { tabStore } from './tab-store.ts'
import { webRegister } from './web-register.ts'

/** IndexedDB involves no network, so a late response only means that this machine is busy. */
const commandTimeoutMs = (name: string, given: unknown = 5_000) => checkedDuration(name, given, 1)

/**
 * Shares the tokens of each account among the tabs and workers of one origin that use the same `prefix`, through IndexedDB. One of them renews, and the others
 * adopt its tokens. If the user closes the tab that renews, another takes over. It presents a single-use refresh token again only for a login, and only once no
 * access token is valid. Without IndexedDB, or outside a secure context, each tab keeps its own tokens, and `storeUnavailable` reports why. If the browser
 * denies the page its storage, the anomaly `storage-denied` reports that as well.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { browserKey, webStore } from 'axios-evergreen/web'
 *
 * const store = webStore({ encryptionKeys: [browserKey()] })
 * const tokens = createTokenManager({ source, store })
 * ```
 * @param options `commandTimeoutMs` is 5 000 here by default.
 * @throws {TypeError | RangeError} naming the option.
 */
export function webStore(options: SharedStoreOptions = {}): TokenStore {
  // Checked even where no store can be shared, so that a mistake shows on the server that renders the page, and not only in browsers.
  const own = readOptions('The options of webStore', options, { ...SHARED, commandTimeoutMs }, '')
  const { encryptionKeys: keys } = own
  const databases = indexedDatabases()
  if ((globalThis as { isSecureContext?: boolean }).isSecureContext === false)
    return tabStore(INSECURE, own.onUnavailable)
  if (!databases) return tabStore(NO_DATABASES, own.onUnavailable)
  if (Array.isArray(keys) && keys.some(isPageKey)) return tabStore(NO_KEY, own.onUnavailable, 'denied')
  const access = new StorageAccess()
  const noted = (given: GivenEncryptionKey): GivenEncryptionKey =>
    isPromise(given)
      ? given.then((entry) => {
          access.hasPageKey ||= isPageKey(entry)
          return entry
        })
      : given
  const register = access.watched(webRegister(databases))
  const encryptionKeys = Array.isArray(keys) ? keys.map(noted) : keys
  const isAlone = () => access.denial !== undefined
  const given = { ...own, encryptionKeys }
  const store = storeOn(register, given, (thrown) => access.failed(thrown), { isAlone })
  return Object.freeze({ ...livingStore(deniableStore(store as OpenableStore, access)), singleUser: true })
}

const INSECURE = 'the page is not a secure context: serve it over https'
const NO_DATABASES = 'there is no IndexedDB here: use a browser that has it, or memoryStore()'
const NO_KEY = 'the browser denies this site its storage, where browserKey() keeps its key: allow cookies and site data'
