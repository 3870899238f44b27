import { checkChoice, checkFunction, checkText } from '../core/option-checks.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import { checkCredential } from '../wire/credential.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import type { CustomErrors } from './custom-meaning.ts'
import type { OAuth2Options } from './oauth2-options.ts'
import type { ProofKey } from './proof-key.ts'
import { knownServer, type TokenServer } from './token-server.ts'

/** The members of a token request. */
export type RequestMembers = Record<string, string>

/** The settings of a source. `oauth2` reads them from its options, `loginSource` from the context of a login. The code of features that only the options enable is passed in as values, so a bundle without `oauth2` omits it. */
export interface OAuth2Settings {
  readonly server: (calls: TokenCalls) => TokenServer
  readonly client: AuthenticatedClient
  /** Whether the client has a secret, a key or a certificate that could be wrong. */
  readonly isAuthenticated: boolean
  readonly grant: NonNullable<OAuth2Options['grant']>
  /** The members of the token request of an obtain. Undefined: the source cannot obtain, and a user must log in. */
  readonly members: ((context: ExchangeContext) => RequestMembers | Promise<RequestMembers>) | undefined
  readonly account: string
  /** Whether only `clientId` names the account, although many users share that id. */
  readonly isUnnamed: boolean
  readonly scope: readonly string[]
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly body: 'form' | 'json'
  readonly errors: CustomErrors
  readonly dpop?: ProofKey | undefined
  readonly onAnswer?: OAuth2Options['onAnswer']
  readonly refreshTokens: 'single-use' | 'reusable'
  /** Whether to keep a refresh token that was issued for client credentials. */
  readonly keepsRefreshToken: boolean
  readonly reuseGraceMs: number
  readonly defaultLifetimeMs: number
  readonly transport?: OAuth2Options['transport']
}

export const DEFAULT_LIFETIME_MS = 300_000

/** The options that name a server. */
export type Addresses = Pick<OAuth2Options, 'tokenEndpoint' | 'revocationEndpoint' | 'issuer'>

/** @returns A server whose `tokenEndpoint` is given. @throws {TypeError} naming the option. */
export function checkedServer(given: Addresses, allowInsecureHttp: boolean): TokenServer {
  const { issuer } = given
  const tokenEndpoint = checkedEndpoint('tokenEndpoint', given.tokenEndpoint, allowInsecureHttp)
  const revocationEndpoint = checkedRevocation(given.revocationEndpoint, allowInsecureHttp)
  if (issuer !== undefined && !(issuer instanceof URL)) checkText('issuer', issuer)
  return knownServer(tokenEndpoint, revocationEndpoint, issuer)
}

/** @throws {TypeError} naming the option. */
export function checkedRevocation(given: unknown, allowInsecureHttp: boolean): URL | undefined {
  return given === undefined ? undefined : checkedEndpoint('revocationEndpoint', given, allowInsecureHttp)
}

function checkedEndpoint(name: string, given: unknown, allowInsecureHttp: boolean): URL {
  const url = checkedSecureUrl(name, given, allowInsecureHttp)
  if (url.hash !== '') throw new TypeError(`${name} must have no fragment (RFC 6749, section 3.2)`)
  return url
}

export function checkedId(name: string, given: unknown): string {
  checkCredential(name, given)
  return given
}

type Client = Pick<OAuth2Options, 'clientId' | 'clientSecret' | 'clientAuthentication' | 'grant'>

export function checkedClient({ clientId, clientSecret, clientAuthentication, grant }: Client) {
  // A public client must not use client credentials (RFC 6749, section 4.4), so a missing secret means that an environment variable is not set.
  const isPublic = clientSecret === undefined && grant !== 'client_credentials'
  const method = clientAuthentication ?? (isPublic ? 'none' : 'basic')
  if (typeof method !== 'function') checkChoice('clientAuthentication', method, ['basic', 'post', 'none'])
  if (method === 'none' && clientSecret !== undefined)
    throw new TypeError("clientSecret must not be given with clientAuthentication 'none', which does not send it")
  if (typeof clientSecret === 'function') checkFunction('clientSecret', clientSecret)
  else if (clientSecret !== undefined || method === 'basic' || method === 'post')
    checkCredential('clientSecret', clientSecret)
  return { clientId, clientSecret, method } satisfies AuthenticatedClient
}

/** @returns The scope tokens (RFC 6749, section 3.3). */
export function checkedScope(scope: unknown = []): readonly string[] {
  if (typeof scope !== 'string' && !Array.isArray(scope)) throw new TypeError('scope must be text, or a list of texts')
  const scopeTokens = (Array.isArray(scope) ? (scope as unknown[]) : scope.split(' ')).filter((one) => one !== '')
  if (scope !== '' && scopeTokens.every((one) => typeof one === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one)))
    return scopeTokens as string[]
  throw new TypeError('scope must be words of visible ASCII characters except " and \\, separated by spaces')
}
