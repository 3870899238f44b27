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
  /** Address of the token endpoint, as the metadata of the server names it. A query is kept. */
  tokenEndpoint: string | URL
  clientId: string
  /** Text, or a function asked at each exchange, e.g. of a secret manager. Absent: a public client. */
  clientSecret?: string | (() => string | Promise<string>) | undefined
  /**
   * `basic` (default with a secret), `post`, `none` (default without one), or a function such as `PrivateKeyJwt(key)` of
   * oauth4webapi: it writes into body and headers.
   */
  clientAuthentication?: 'basic' | 'post' | 'none' | ClientAuthentication | undefined
  /** What such a function is told as `issuer`, which becomes the audience of a signed assertion. Default: `tokenEndpoint`. */
  issuer?: string | undefined
  /**
   * `client_credentials` (default), or `login`: a person logs in elsewhere, and the tokens come by `adopt()`. Without a refresh
   * token the manager then rejects with `ERR_LOGIN_REQUIRED`.
   */
  grant?: 'client_credentials' | 'login' | undefined
  /** Text with spaces between, or a list. Sent with every exchange. */
  scope?: string | readonly string[] | undefined
  /** More members of every request: `audience`, `resource`, … */
  parameters?: Readonly<Record<string, string>> | undefined
  /**
   * What the server does with a refresh token that was used. `single-use` (default): it is dead. `reusable`: it stays good, and an
   * answer without a refresh token keeps it. Of client credentials no refresh token is kept (RFC 6749, section 4.4.3), unless
   * this is given.
   */
  refreshTokens?: 'single-use' | 'reusable' | undefined
  /** Ms for which the server documents to accept a refresh token that was used. Default 0. */
  reuseGraceMs?: number | undefined
  /** Lifetime in ms where an answer has no `expires_in`, which is only recommended. Default 300 000. */
  defaultLifetimeMs?: number | undefined
  /** Names the account; default `clientId`. Each login needs its own: two of them must not meet in a store. */
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

/** The options with their defaults, checked. @throws {TypeError | RangeError} naming the option, and its value unless it may be secret. */
export function oauth2Settings(options: OAuth2Options) {
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
    /** Whether the refresh token of an answer to client credentials is kept. */
    keepsAll: own.refreshTokens !== undefined,
    reuseGraceMs,
    defaultLifetimeMs,
    account,
    transport,
  }
}

function checkedClient({ clientId, clientSecret, clientAuthentication }: OAuth2Options, issuer: string) {
  const method = clientAuthentication ?? (clientSecret === undefined ? 'none' : 'basic')
  if (typeof method !== 'function') checkChoice('clientAuthentication', method, ['basic', 'post', 'none'])
  if (typeof clientSecret === 'function') checkFunction('clientSecret', clientSecret)
  else if (clientSecret !== undefined || method === 'basic' || method === 'post')
    checkCredential('clientSecret', clientSecret)
  return { clientId, clientSecret, method, issuer } satisfies AuthenticatedClient
}

/** @returns Its words (RFC 6749, section 3.3). */
function checkedScope(scope: unknown = []): readonly string[] {
  if (typeof scope !== 'string' && !Array.isArray(scope)) throw new TypeError('scope must be text, or a list of texts')
  const words = (Array.isArray(scope) ? (scope as unknown[]) : scope.split(' ')).filter((word) => word !== '')
  if (words.every((word) => typeof word === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(word)))
    return words as string[]
  throw new TypeError('scope must be words of visible ASCII characters without " and \\, with spaces between')
}

/** What options of their own, or the exchange, decide. */
const DECIDED = ['grant_type', 'client_id', 'client_secret', 'refresh_token', 'scope']

/** @returns A copy, sorted by name. */
function checkedParameters(parameters: object): [name: string, value: string][] {
  checkObject('parameters', parameters)
  return Object.entries(parameters)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]: [string, unknown]) => {
      if (DECIDED.includes(name)) throw new TypeError(`parameters must not hold ${name}: there are options for it`)
      checkText(`parameters.${name}`, value)
      return [name, value]
    })
}
