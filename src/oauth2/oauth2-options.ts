import {
  checkChoice,
  checkFlag,
  checkFunction,
  checkNumber,
  checkObject,
  checkText,
  ownOptions,
} from '../core/option-checks.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import { checkCredential } from '../wire/credential.ts'
import type { TokenCallOptions } from '../wire/token-call.ts'
import type { AuthenticatedClient, ClientAuthentication } from './client-authentication.ts'

export interface OAuth2Options {
  /** Address of the token endpoint: `token_endpoint` in the metadata of the server (RFC 8414). A query is kept. */
  tokenEndpoint: string | URL
  clientId: string
  /** The secret, or a function that returns it and is called at each exchange, e.g. one that asks a secret manager. */
  clientSecret?: string | (() => string | Promise<string>) | undefined
  /**
   * `basic` (default), `post`, `none` (a public client, default for a `login` without a secret; or a client certificate in
   * `transport`), or a function that adds the proof to the body or the headers, such as `PrivateKeyJwt(key)` of oauth4webapi.
   */
  clientAuthentication?: 'basic' | 'post' | 'none' | ClientAuthentication | undefined
  /** Passed to a `clientAuthentication` function, which makes it the audience of a signed assertion. Default: `tokenEndpoint`. */
  issuer?: string | undefined
  /**
   * `client_credentials` (default), or `login`: a person logs in elsewhere, and your code passes the tokens to `adopt()`. Without
   * a refresh token the manager then rejects with `ERR_LOGIN_REQUIRED`.
   */
  grant?: 'client_credentials' | 'login' | undefined
  /** The words of the scope, separated by spaces or as a list. Sent with every exchange. */
  scope?: string | readonly string[] | undefined
  /** Further parameters of every token call: `audience`, `resource`, … */
  parameters?: Readonly<Record<string, string>> | undefined
  /**
   * What the server does with a refresh token that was used. `single-use` (default): the server rejects it from then on. `reusable`:
   * the server still accepts it, also after an answer without a refresh token. Unless this option is given, the source drops a
   * refresh token that comes with client credentials (RFC 6749, section 4.4.3).
   */
  refreshTokens?: 'single-use' | 'reusable' | undefined
  /** How long the server accepts a refresh token after its first use, ms, if the server documents that. Default 0. */
  reuseGraceMs?: number | undefined
  /** Lifetime of an access token, ms, where the answer has no `expires_in` (RFC 6749 only recommends it). Default 300 000. */
  defaultLifetimeMs?: number | undefined
  /** Names the account; default `clientId`. Give each login its own name: logins with the same name share one record of a store. */
  account?: string | undefined
  /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
  transport?: TokenCallOptions['transport']
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

const NAMES = [
  'tokenEndpoint',
  'clientId',
  'clientSecret',
  'clientAuthentication',
  'issuer',
  'grant',
  'scope',
  'parameters',
  'refreshTokens',
  'reuseGraceMs',
  'defaultLifetimeMs',
  'account',
  'transport',
  'allowInsecureHttp',
] as const satisfies (keyof OAuth2Options)[]

export type OAuth2Settings = ReturnType<typeof oauth2Settings>

/** Checks the options and adds the defaults. @throws {TypeError | RangeError} naming the option, and its value unless it may be secret. */
export function oauth2Settings(options: OAuth2Options) {
  for (const name of ['audience', 'resource'])
    if (Object.hasOwn(Object(options) as object, name))
      throw new TypeError(`${name} is no option: write parameters: { ${name} }`)
  const own = ownOptions('The options of oauth2', options, NAMES)
  const { grant = 'client_credentials', account = own.clientId, allowInsecureHttp = false, parameters = {} } = own
  const { refreshTokens = 'single-use', reuseGraceMs = 0, defaultLifetimeMs = 300_000, transport } = own
  checkFlag('allowInsecureHttp', allowInsecureHttp)
  const url = checkedSecureUrl('tokenEndpoint', own.tokenEndpoint, allowInsecureHttp)
  if (url.hash !== '') throw new TypeError('tokenEndpoint must have no fragment (RFC 6749, section 3.2)')
  const { issuer = url.href } = own
  checkCredential('clientId', own.clientId)
  checkText('account', account)
  checkText('issuer', issuer)
  checkChoice('grant', grant, ['client_credentials', 'login'])
  checkChoice('refreshTokens', refreshTokens, ['single-use', 'reusable'])
  checkNumber('reuseGraceMs', reuseGraceMs, 0)
  checkNumber('defaultLifetimeMs', defaultLifetimeMs, 1)
  return {
    url,
    client: checkedClient(own, issuer),
    grant,
    scope: checkedScope(own.scope),
    parameters: checkedParameters(parameters),
    refreshTokens,
    /** Whether a refresh token that comes with client credentials is kept. */
    keepsAll: own.refreshTokens !== undefined,
    reuseGraceMs,
    defaultLifetimeMs,
    account,
    transport,
  }
}

function checkedClient({ clientId, clientSecret, clientAuthentication, grant }: OAuth2Options, issuer: string) {
  // A public client may not use client credentials (RFC 6749, section 4.4): without a secret, an environment variable is not set.
  const method = clientAuthentication ?? (clientSecret === undefined && grant === 'login' ? 'none' : 'basic')
  if (typeof method !== 'function') checkChoice('clientAuthentication', method, ['basic', 'post', 'none'])
  if (typeof clientSecret === 'function') checkFunction('clientSecret', clientSecret)
  else if (clientSecret !== undefined || method === 'basic' || method === 'post')
    checkCredential('clientSecret', clientSecret)
  return { clientId, clientSecret, method, issuer } satisfies AuthenticatedClient
}

/** @returns The words of the scope (RFC 6749, section 3.3). */
function checkedScope(scope: unknown = []): readonly string[] {
  if (typeof scope !== 'string' && !Array.isArray(scope)) throw new TypeError('scope must be text, or a list of texts')
  const words = (Array.isArray(scope) ? (scope as unknown[]) : scope.split(' ')).filter((word) => word !== '')
  if (words.every((word) => typeof word === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word)))
    return words as string[]
  throw new TypeError('scope must be words of visible ASCII characters without " and \\, with spaces between')
}

/** Parameters that other options, or the exchange, set. */
const DECIDED = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope']

/** @returns A copy, sorted by name: the id of the source must not depend on the order. */
function checkedParameters(parameters: object): [name: string, value: string][] {
  checkObject('parameters', parameters)
  // URLSearchParams, a Map and a list would be sent as nothing.
  if (Symbol.iterator in parameters) throw new TypeError('parameters must be a plain object: use Object.fromEntries')
  return Object.entries(parameters)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]: [string, unknown]) => {
      if (DECIDED.includes(name)) throw new TypeError(`parameters must not hold ${name}: there are options for it`)
      checkText(`parameters.${name}`, value)
      return [name, value]
    })
}
