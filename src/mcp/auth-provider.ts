import { checkFunction, checkObject } from '../core/option-checks.ts'

/** The members of the SDK's `OAuthClientProvider` that are used here. */
export interface CheckedProvider {
  clientInformation(context?: unknown): unknown
  discoveryState?(): unknown
  validateResourceURL?(serverUrl: string, resource?: string): unknown
  readonly addClientAuthentication?: (
    headers: Headers,
    body: URLSearchParams,
    url: string,
    metadata: object,
  ) => void | Promise<void>
  invalidateCredentials?(scope: string): unknown
}

/** What the SDK's own functions call in any case. */
const NEEDED = ['clientInformation', 'saveCodeVerifier', 'codeVerifier', 'redirectToAuthorization']

/** @throws {TypeError} naming the member that is missing, or that cannot be used here. */
export function checkedProvider(given: unknown): CheckedProvider {
  checkObject('provider', given)
  const provider = given as Readonly<Record<string, unknown>>
  for (const name of NEEDED) checkFunction(`provider.${name}`, provider[name])
  checkObject('provider.clientMetadata', provider.clientMetadata)
  if (provider.dpop !== undefined)
    throw new TypeError('provider.dpop must be absent: mcpLogin keeps bearer tokens, which are not bound to a key')
  return provider as unknown as CheckedProvider
}

/**
 * Passes everything on to `provider` but what is about tokens: the SDK never sees one, so it never refreshes, and what it invalidates ends nothing that
 * the store still holds.
 */
export function authProviderOf(
  provider: CheckedProvider,
  saveTokens: (tokens: unknown, about?: unknown) => Promise<void>,
): object {
  const own: Readonly<Record<string | symbol, unknown>> = {
    tokens: () => Promise.resolve(undefined),
    saveTokens,
    async invalidateCredentials(scope: string) {
      const scopes = scope === 'all' ? ['client', 'verifier'] : [scope].filter((one) => one !== 'tokens')
      for (const one of scopes) await provider.invalidateCredentials?.(one)
    },
  }
  return new Proxy(provider, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return own[name]
      const value: unknown = Reflect.get(target, name)
      // Bound: a class with private members refuses any other `this`.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
    set: (target, name, value) => Reflect.set(target, name, value),
  })
}
