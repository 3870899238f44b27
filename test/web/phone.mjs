// An application on a phone: React Native's globals and the polyfills that docs/works-with.md names, with what the application imports as `evergreen`.
import { createContext, runInContext } from 'node:vm'

/** What React Native has that the package uses. Its own `URL` throws when it is read. */
export const REACT_NATIVE = {
  ...{ setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask, console },
  ...{ AbortController, performance, fetch, Headers, Request, Response, FormData, Blob },
  XMLHttpRequest: class {},
  URLSearchParams,
  TextEncoder,
  navigator: { product: 'ReactNative' },
}
/** What applications add by polyfills. */
export const POLYFILLS = { crypto: { getRandomValues: crypto.getRandomValues.bind(crypto) }, TextDecoder, URL }

/** @returns An application that has started. */
export function startApp(bundle, globals) {
  const context = createContext({ ...globals })
  runInContext('globalThis.window = globalThis.self = globalThis', context)
  runInContext(bundle, context)
  return context
}

/**
 * Runs an act with a manager whose store is that of the page.
 *
 * @param globals With the keychain as `SecureStore`, and the `source`.
 * @param code That of the page, with its imports.
 * @returns {Promise<string>} The access token that the manager has then.
 */
export function withKeychain(bundle, globals, code, act) {
  // Each application has a crypto object of its own: the code adds to it.
  const own = { getRandomValues: crypto.getRandomValues.bind(crypto) }
  const Crypto = { digest: (algorithm, data) => crypto.subtle.digest(algorithm, data) }
  const context = startApp(bundle, { ...REACT_NATIVE, ...POLYFILLS, Crypto, crypto: own, events: [], ...globals })
  const register = code.replace(/^import .*\n/gm, '').replace('export ', '')
  return runInContext(
    `(async () => {
      const { createTokenManager, oauth2, sharedStore, TokenError } = evergreen
      ${register}
      const tokens = createTokenManager({ source: makeSource(evergreen), store, storeKey: 'person' })
      tokens.on('suspicious', ({ evidence, severity }) => events.push(evidence + ', ' + severity))
      tokens.on('anomaly', ({ kind }) => events.push(kind))
      try {
        ${act}
        return await tokens.getAccessToken()
      } finally { await tokens.close() }
    })()`,
    context,
  )
}
