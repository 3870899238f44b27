import { TokenError } from '../core/errors.ts'
import {
  type Exchange,
  type ExchangeContext,
  internalOf,
  type LoginSource,
  type TokenGrant,
  type TokenSource,
} from '../core/token-source.ts'
import { attachCredentials } from '../core/attach-credentials.ts'
import type { LoginLayer } from '../core/login-layer.ts'
import { checkRuntime } from '../core/own-runtime.ts'
import { person } from '../login/person.ts'
import { type TokenResponse, isSuccess } from '../wire/token-response.ts'
import { TokenCalls } from '../wire/token-call.ts'
import { ResponseReader } from './response-reader.ts'
import { addClaims, onClaimsChallenge } from './claims-challenge.ts'
import { authenticate } from './client-authentication.ts'
import type { OAuth2Options } from './oauth2-options.ts'
import { oauth2Settings } from './oauth2-settings.ts'
import { documentIn, holdersOfToken, memberOf, type Members } from './document.ts'
import type { OAuth2Settings, RequestMembers } from './source-settings.ts'
import type { Endpoints, TokenServer } from './token-server.ts'
import { errorResponseOf, type ErrorRules } from './error-response.ts'
import { markUnclear } from './unclear-response.ts'

/**
 * A token source for any OAuth 2.0 token endpoint (RFC 6749, sections 2.3, 4.4, 5 and 6): with client credentials, with the
 * refresh tokens of a login that happened elsewhere (`adopt`), or with any other grant. `invalid_grant` on a refresh rejects the refresh token, and the manager
 * checks whether that is suspicious. `invalid_client` rejects the client, and the manager keeps the refresh token.
 *
 * The source has no origin, because the API is rarely at the origin of the authorization server. Tokens go to the `baseURL` of
 * the instance, or to the `origins` of `attachBearer`.
 *
 * @example
 * ```ts
 * import { createTokenManager } from 'axios-evergreen'
 * import { oauth2 } from 'axios-evergreen/oauth2'
 *
 * const { CLIENT_ID = '', CLIENT_SECRET = '' } = process.env
 * const client = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET }
 * const tokens = createTokenManager({ source: oauth2({ tokenEndpoint: 'https://id.example.com/token', ...client }) })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function oauth2(options: OAuth2Options & { grant: 'login' }): LoginSource
export function oauth2(options: OAuth2Options): TokenSource
export function oauth2(options: OAuth2Options): TokenSource {
  checkRuntime()
  return new OAuth2(oauth2Settings(options))
}

export class OAuth2 implements TokenSource {
  readonly refreshTokens: 'single-use' | 'reusable'
  readonly reuseGraceMs: number
  declare readonly login?: LoginLayer
  readonly isUnnamed: boolean
  readonly resources = true
  declare readonly boundTo?: Promise<string>
  declare readonly revoke?: NonNullable<TokenSource['revoke']>
  readonly #settings: OAuth2Settings
  readonly #option: string | undefined
  readonly #calls: TokenCalls
  readonly #server: TokenServer
  readonly #reader: ResponseReader
  /** The claims that the API requires in the next access token. Sent until a token request succeeds. */
  #claims: Members | undefined
  /**
   * The server rejected `scope` in a refresh: the user granted less, and a refresh must not request more than was granted (RFC 6749, section 6). A refresh
   * without `scope` requests what was granted.
   */
  #omitsScope = false
  readonly #reported = new Set<string>()

  /** @param option For messages: the option to check, if a function other than `oauth2` uses the source. */
  constructor(settings: OAuth2Settings, option?: string) {
    this.refreshTokens = settings.refreshTokens
    this.reuseGraceMs = settings.reuseGraceMs
    if (settings.grant === 'login') this.login = person
    this.isUnnamed = settings.isUnnamed
    this.#settings = settings
    this.#option = option
    this.#calls = new TokenCalls(settings.transport)
    this.#server = settings.server(this.#calls)
    this.#reader = new ResponseReader(settings, option)
    onClaimsChallenge(this, (claims) => (this.#claims = claims))
    attachCredentials(this, () => settings.client.clientSecret, typeof settings.grant !== 'function')
    if (settings.dpop) this.boundTo = settings.dpop.thumbprint
    if (this.#server.mayRevoke) this.revoke = (tokens, context) => this.#revoke(tokens, context)
  }

  // An accessor, so that the id is not printed with the source.
  get id(): string {
    const { grant, client, account, scope, parameters } = this.#settings
    const flow = typeof grant === 'function' ? 'other' : grant
    return `oauth2 ${JSON.stringify([this.#server.name, flow, client.clientId, account, scope, parameters])}`
  }

  async obtain(context: ExchangeContext): Promise<TokenGrant> {
    const { members: membersIn, keepsRefreshToken } = this.#settings
    if (!membersIn) throw new TokenError('ERR_LOGIN_REQUIRED', LOG_IN, { outcome: 'not-sent' })
    const members = await membersIn(context)
    const grant = await this.#exchange('obtain', members, context)
    if (keepsRefreshToken) return grant
    // The credentials can always obtain, so a refresh token would only be one more secret (RFC 6749, section 4.4.3).
    const { refreshToken: _, refreshLifetimeMs: __, ...accessOnly } = grant
    return accessOnly
  }

  refresh(refreshToken: string, context: ExchangeContext): Promise<TokenGrant> {
    return this.#exchange('refresh', { grant_type: 'refresh_token', refresh_token: refreshToken }, context)
  }

  /** `reset()` of the manager calls this. */
  reset(): void {
    this.#server.forget?.()
    this.#claims = undefined
  }

  #exchange(...given: Exchanging): Promise<TokenGrant> {
    const internal: unknown = internalOf(given[2])
    const { sourceFor } = internal as { sourceFor?: (settings: OAuth2Settings) => OAuth2 | undefined }
    return (sourceFor?.(this.#settings) ?? this).#send(...given)
  }

  async #send(...[exchange, members, context]: Exchanging): Promise<TokenGrant> {
    const endpoints = await this.#server.endpoints(context)
    const presented = members.refresh_token
    const send = async () => {
      const response = await this.#call(endpoints, this.#bodyOf(members), context)
      const isRotated = presented !== undefined && hasNewRefreshToken(response, presented)
      return {
        response,
        errorResponse: isRotated ? undefined : errorResponseOf(exchange, response, this.#errorRules(context)),
      }
    }
    const isOfScope = () => exchange === 'refresh' && errorResponse?.meaning === 'invalid_scope'
    let { response, errorResponse } = await send()
    const drops = isOfScope() && !this.#omitsScope && this.#settings.scope.length > 0
    if (drops) {
      this.#omitsScope = true
      ;({ response, errorResponse } = await send())
    }
    if (isOfScope()) this.#report(SCOPE_REJECTED, context)
    else if (drops) this.#report(SCOPE_OMITTED, context)
    try {
      if (errorResponse) throw errorResponse.error
      const grant = this.#reader.grantIn(response, context, presented)
      this.#claims = undefined
      return grant
    } catch (error) {
      throw this.login && exchange === 'refresh'
        ? await markUnclear(error as TokenError, response, this.#option === undefined)
        : error
    }
  }

  #bodyOf(members: RequestMembers): URLSearchParams {
    const { scope, parameters } = this.#settings
    const body = new URLSearchParams(members)
    for (const [name, value] of parameters) if (!Object.hasOwn(members, name)) body.append(name, value)
    const isOmitted = this.#omitsScope && members.refresh_token !== undefined
    if (scope.length > 0 && !isOmitted && !body.has('scope')) body.set('scope', scope.join(' '))
    if (this.#claims) addClaims(body, this.#claims)
    return body
  }

  /** Reports each message once. */
  #report(what: string, { report }: ExchangeContext): void {
    if (!this.#reported.has(what)) report?.('unexpected-response', what)
    this.#reported.add(what)
  }

  #errorRules({ report }: ExchangeContext): ErrorRules {
    const { errors, isAuthenticated } = this.#settings
    return { errors, isAuthenticated, option: this.#option, needsLogin: this.login !== undefined, report }
  }

  #call(endpoints: Endpoints, body: URLSearchParams, context: ExchangeContext): Promise<TokenResponse> {
    const { tokenEndpoint: url } = endpoints
    const { dpop } = this.#settings
    if (!dpop) return this.#post(url, endpoints, body, context)
    return dpop.send(url, (proof) => this.#post(url, endpoints, body, context, { DPoP: proof }), context)
  }

  /** Revokes the refresh token, and with it all its access tokens; if there is none, the access token (RFC 7009, section 2.1). */
  async #revoke({ accessToken, refreshToken }: Tokens, context: ExchangeContext): Promise<void> {
    const token = refreshToken ?? accessToken
    if (token === undefined) return
    const endpoints = await this.#server.endpoints(context)
    if (!endpoints.revocationEndpoint) throw new TokenError('ERR_TOKEN_REQUEST', NO_REVOCATION, NO_ENDPOINT)
    const hint = refreshToken === undefined ? 'access_token' : 'refresh_token'
    const body = new URLSearchParams({ token, token_type_hint: hint })
    const response = await this.#post(endpoints.revocationEndpoint, endpoints, body, context)
    const errorResponse = errorResponseOf('revoke', response, this.#errorRules(context))
    if (errorResponse) throw errorResponse.error
    if (/^\s*</.test(response.text)) throw noConfirmation(response, this.#option)
  }

  async #post(
    url: URL,
    { issuer }: Endpoints,
    members: URLSearchParams,
    context: ExchangeContext,
    proof?: { readonly DPoP: string },
  ): Promise<TokenResponse> {
    // A copy, because a repeated request authenticates the client again.
    const [body, headers] = [new URLSearchParams(members), new Headers()]
    await authenticate(this.#settings.client, issuer, body, headers, context)
    const [type, text] = ENCODERS[this.#settings.body](body)
    const own = { Accept: 'application/json', 'Content-Type': type, ...proof }
    return this.#calls.send({ url, body: text, headers: { ...Object.fromEntries(headers), ...own } }, context)
  }
}

/** Whether a successful response has a new refresh token. Then no flaw in the rest of the response may cause its loss (F345). */
function hasNewRefreshToken({ status, text }: TokenResponse, presented: string): boolean {
  const whole = isSuccess(status) ? documentIn(text) : undefined
  const [document = whole] = holdersOfToken(whole ?? {})
  const next = memberOf(document, 'refresh_token')
  return typeof next === 'string' && next !== '' && next !== presented
}

type Exchanging = [exchange: Exchange, members: RequestMembers, context: ExchangeContext]

type Tokens = Parameters<NonNullable<TokenSource['revoke']>>[0]

/** The media type and the text of the body. */
const ENCODERS = {
  form: (body: URLSearchParams) => ['application/x-www-form-urlencoded', body.toString()],
  // A name that occurs several times, such as `resource`, is an array.
  json: (body: URLSearchParams) => [
    'application/json',
    JSON.stringify(
      Object.fromEntries(
        [...body].map(([name, one]) => [name, body.getAll(name).length > 1 ? body.getAll(name) : one]),
      ),
    ),
  ],
} as const satisfies Record<OAuth2Settings['body'], (body: URLSearchParams) => readonly [string, string]>

const SCOPE_OMITTED = 'The server rejects scope in a refresh (invalid_scope): refreshes are sent without it'
const SCOPE_REJECTED = 'The server rejects a refresh without scope (invalid_scope): check the scopes'

const LOG_IN = 'The user must log in: pass the tokens of that login to adopt() of the token manager'

const NO_REVOCATION = 'The metadata of issuer have no revocation_endpoint: set revocationEndpoint'
const NO_ENDPOINT = { outcome: 'not-sent', revocation: 'no-endpoint' } as const

function noConfirmation({ address, status }: TokenResponse, option = 'revocationEndpoint'): TokenError {
  const message = `The response from ${address} does not confirm the revocation: it is HTML; check ${option}`
  return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown', status })
}
