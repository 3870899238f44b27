import { checkFunction, checkObject } from '../core/option-checks.ts'
import { isPromise } from '../core/thrown.ts'
import type { OnePage } from '../login/one-page.ts'

/** The members of the SDK's `OAuthClientProvider` that are used here. */
export interface CheckedProvider {
  clientInformation(context?: unknown): unknown
  saveCodeVerifier(verifier: unknown): unknown
  codeVerifier(): unknown
  redirectToAuthorization(page: URL): unknown
  discoveryState?(): unknown
  validateResourceURL?(serverUrl: string, resource?: string): unknown
  addClientAuthentication?(...given: [Headers, URLSearchParams, string, object]): void | Promise<void>
  invalidateCredentials?(scope: string): unknown
}

type Members = Readonly<Record<string | symbol, unknown>>

/** The members that the SDK always calls. */
const REQUIRED = ['clientInformation', 'saveCodeVerifier', 'codeVerifier', 'redirectToAuthorization']

/** @throws {TypeError} naming the member that is missing or not supported. */
export function checkedProvider(given: unknown): CheckedProvider {
  checkObject('provider', given)
  const provider = given as Readonly<Record<string, unknown>>
  for (const name of REQUIRED) checkFunction(`provider.${name}`, provider[name])
  checkObject('provider.clientMetadata', provider.clientMetadata)
  if (provider.dpop !== undefined)
    throw new TypeError('provider.dpop must be absent: mcpLogin keeps bearer tokens, which are not bound to a key')
  return provider as unknown as CheckedProvider
}

/**
 * Delegates to `provider`, except for tokens: the SDK sees no refresh token, so it never refreshes, and its invalidations do not end a login
 * that the store holds. All login pages use the code verifier of the first one (RFC 7636): the SDK has only the last verifier, but the user may complete any
 * page.
 *
 * @param instead Replaces the members for tokens.
 * @returns The provider for the SDK, and a function that forgets the login pages.
 */
export function authProviderOf(provider: CheckedProvider, page: OnePage, instead: Members) {
  /** The first page that no user has completed, and the last verifier of the SDK. */
  let first: { readonly of: string; readonly challenge: string | null; readonly verifier: unknown } | undefined
  let last: unknown
  const forget = () => void (first = undefined)
  const failed = () => page.failed(true)
  const own: Members = {
    ...instead,
    async saveCodeVerifier(verifier: unknown) {
      last = verifier
      await provider.saveCodeVerifier(verifier)
    },
    codeVerifier: () => first?.verifier ?? provider.codeVerifier(),
    async redirectToAuthorization(given: URL) {
      const url = new URL(given)
      const { origin, pathname, searchParams } = url
      const challenge = searchParams.get('code_challenge')
      const of = JSON.stringify([origin, pathname, searchParams.get('client_id')])
      if (first?.of !== of) first = { of, challenge, verifier: last }
      if (first.challenge !== null) searchParams.set('code_challenge', first.challenge)
      if (first.verifier !== last) await provider.saveCodeVerifier(first.verifier)
      await page.opened()
      await provider.redirectToAuthorization(url)
    },
    async invalidateCredentials(scope: string) {
      forget()
      failed()
      const scopes = scope === 'all' ? ['client', 'verifier'] : [scope].filter((one) => one !== 'tokens')
      for (const one of scopes) await provider.invalidateCredentials?.(one)
    },
  }
  return { authProvider: delegating(provider, own, failed), forget }
}

/** @param own Replaces members of the provider. @param onFailure Called if a method throws or rejects. */
function delegating(provider: CheckedProvider, own: Members, onFailure: () => void): CheckedProvider {
  return new Proxy(provider, {
    get(target, name) {
      const value: unknown = Object.hasOwn(own, name) ? own[name] : Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: unknown[]): unknown => {
        try {
          // Called on the provider itself: a class with private members throws for any other `this`.
          const result: unknown = Reflect.apply(value, target, given)
          if (isPromise(result)) result.then(undefined, onFailure)
          return result
        } catch (error) {
          onFailure()
          throw error
        }
      }
    },
    set: (target, name, value) => Reflect.set(target, name, value),
  })
}
