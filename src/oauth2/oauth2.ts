import { TokenError } from '../core/errors.ts'
import {
  type Exchange,
  type ExchangeContext,
  type LoginSource,
  type TokenGrant,
  type TokenSource,
} from '../core/token-source.ts'
import { tellsCredentials } from '../core/tells-credentials.ts'
import type { LoginLayer } from '../core/login-layer.ts'
import { checkRuntime } from '../core/own-runtime.ts'
import { person } from '../login/person.ts'
import { fromFunction } from '../wire/credential.ts'
import { rejection } from '../wire/error-response.ts'
import { type TokenResponse, isSuccess } from '../wire/token-response.ts'
import { TokenCalls } from '../wire/token-call.ts'
import { AnswerReader } from './answer-reader.ts'
import { AuthorizationServer, type Endpoints } from './authorization-server.ts'
import { authenticate } from './client-authentication.ts'
import type { OAuth2Options } from './oauth2-options.ts'
import { checkedGrantParameters, type OAuth2Settings, oauth2Settings } from './oauth2-settings.ts'
import { documentIn, holdersOfToken, memberOf } from './document.ts'
import { withProof } from './proven.ts'
import { type ErrorResponse, errorResponseOf, type Judging } from './error-response.ts'
import { saidAgain } from './saying.ts'

/**
 * A token source for any OAuth 2.0 token endpoint (RFC 6749, sections 2.3, 4.4, 5 and 6): with client credentials, with the
 * refresh tokens of a login that happened elsewhere (`adopt`), or with any other grant. `invalid_grant` on a refresh refuses the refresh token; the manager
 * then checks whether that is suspicious. `invalid_client` refuses the client; the manager keeps the refresh token.
 *
 * The source names no origin, because the API is rarely at the origin of the authorization server. Tokens go to the `baseURL` of
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

class OAuth2 implements TokenSource {
  readonly refreshTokens: 'single-use' | 'reusable'
  readonly reuseGraceMs: number
  declare readonly login?: LoginLayer
  readonly isUnnamed: boolean
  declare readonly boundTo?: Promise<string>
  declare readonly revoke?: NonNullable<TokenSource['revoke']>
  readonly #settings: OAuth2Settings
  readonly #calls: TokenCalls
  readonly #server: AuthorizationServer
  readonly #reader: AnswerReader
  /** The server has refused `scope` at a refresh. */
  #mayNotAsk = false

  constructor(settings: OAuth2Settings) {
    this.refreshTokens = settings.refreshTokens
    this.reuseGraceMs = settings.reuseGraceMs
    if (settings.grant === 'login') this.login = person
    this.isUnnamed = settings.isUnnamed
    this.#settings = settings
    this.#calls = new TokenCalls(settings.transport)
    this.#server = new AuthorizationServer(settings.server, this.#calls)
    this.#reader = new AnswerReader(settings)
    tellsCredentials(this, () => settings.client.clientSecret, settings.grant === 'client_credentials')
    if (settings.dpop) this.boundTo = settings.dpop.thumbprint
    if (this.#server.mayRevoke) this.revoke = (tokens, context) => this.#revoke(tokens, context)
  }

  // An accessor, so that printing the source does not show the id.
  get id(): string {
    const { grant, client, account, scope, parameters } = this.#settings
    const flow = typeof grant === 'function' ? 'other' : grant
    return `oauth2 ${JSON.stringify([this.#server.name, flow, client.clientId, account, scope, parameters])}`
  }

  async obtain(context: ExchangeContext): Promise<TokenGrant> {
    const { grant, keepsAll } = this.#settings
    if (grant === 'login') throw loginRequired()
    const members =
      typeof grant === 'function'
        ? await fromFunction('grant', grant, checkedGrantParameters, context)
        : { grant_type: grant }
    const { refreshToken, refreshLifetimeMs, ...accessOnly } = await this.#exchange('obtain', members, context)
    // The credentials can always obtain: a refresh token would only be one more secret to lose (RFC 6749, section 4.4.3).
    if (!keepsAll || refreshToken === undefined) return accessOnly
    return { ...accessOnly, refreshToken, ...(refreshLifetimeMs !== undefined && { refreshLifetimeMs }) }
  }

  refresh(refreshToken: string, context: ExchangeContext): Promise<TokenGrant> {
    return this.#exchange('refresh', { grant_type: 'refresh_token', refresh_token: refreshToken }, context)
  }

  /** `reset()` of the manager calls this. */
  reset(): void {
    this.#server.forget()
  }

  async #exchange(exchange: Exchange, members: Record<string, string>, context: ExchangeContext): Promise<TokenGrant> {
    const endpoints = await this.#server.endpoints(context)
    const presented = members.refresh_token
    const send = async () => {
      const answer = await this.#call(endpoints, this.#bodyOf(members), context)
      const isRotated = presented !== undefined && bringsOther(answer, presented)
      return { answer, response: isRotated ? undefined : errorResponseOf(exchange, answer, this.#judging(context)) }
    }
    let { answer, response } = await send()
    if (exchange === 'refresh' && response?.meaning === 'invalid_scope' && this.#leavesScopeOut(context))
      ({ answer, response } = await send())
    try {
      if (response) throw errorOfResponse(answer, response)
      return this.#reader.grantIn(answer, context, presented)
    } catch (error) {
      throw this.login && exchange === 'refresh' ? await saidAgain(error as TokenError, answer) : error
    }
  }

  #bodyOf(members: Record<string, string>): URLSearchParams {
    const { scope, parameters } = this.#settings
    const body = new URLSearchParams(members)
    for (const [name, value] of parameters) if (!body.has(name)) body.set(name, value)
    const isLeftOut = this.#mayNotAsk && members.refresh_token !== undefined
    if (scope.length > 0 && !isLeftOut && !body.has('scope')) body.set('scope', scope.join(' '))
    return body
  }

  /**
   * The person granted less than `scope` asks for, and a refresh must not ask for more (RFC 6749, section 6). Without `scope` it asks for what was
   * granted.
   *
   * @returns Whether `scope` was sent. From now on no refresh has it.
   */
  #leavesScopeOut({ report }: ExchangeContext): boolean {
    if (this.#mayNotAsk || this.#settings.scope.length === 0) return false
    this.#mayNotAsk = true
    report?.(
      'unexpected-response',
      'The server refuses scope at a refresh (invalid_scope): refreshes are sent without it',
    )
    return true
  }

  #judging({ report }: ExchangeContext): Judging {
    return { errors: this.#settings.errors, needsLogin: this.login !== undefined, report }
  }

  #call(endpoints: Endpoints, body: URLSearchParams, context: ExchangeContext): Promise<TokenResponse> {
    const { tokenEndpoint: url } = endpoints
    const { dpop } = this.#settings
    if (!dpop) return this.#post(url, endpoints, body, context)
    return withProof(dpop.proofs, url, (proof) => this.#post(url, endpoints, body, context, { DPoP: proof }), context)
  }

  /** Revokes the refresh token, and with it all its access tokens; without one the access token (RFC 7009, section 2.1). */
  async #revoke({ accessToken, refreshToken }: Tokens, context: ExchangeContext): Promise<void> {
    const token = refreshToken ?? accessToken
    if (token === undefined) return
    const endpoints = await this.#server.endpoints(context)
    if (!endpoints.revocationEndpoint) throw noRevocation()
    const hint = refreshToken === undefined ? 'access_token' : 'refresh_token'
    const body = new URLSearchParams({ token, token_type_hint: hint })
    const answer = await this.#post(endpoints.revocationEndpoint, endpoints, body, context)
    const response = errorResponseOf('revoke', answer, this.#judging(context))
    if (response) throw errorOfResponse(answer, response)
    if (/^\s*</.test(answer.text)) throw noConfirmation(answer)
  }

  async #post(
    url: URL,
    { issuer }: Endpoints,
    members: URLSearchParams,
    context: ExchangeContext,
    proof?: { readonly DPoP: string },
  ): Promise<TokenResponse> {
    // A copy: a call that is made once more authenticates the client anew.
    const [body, headers] = [new URLSearchParams(members), new Headers()]
    await authenticate(this.#settings.client, issuer, body, headers, context)
    const [type, text] = WRITTEN[this.#settings.body](body)
    const own = { Accept: 'application/json', 'Content-Type': type, ...proof }
    return this.#calls.send({ url, body: text, headers: { ...Object.fromEntries(headers), ...own } }, context)
  }
}

/** Whether an answer of success has another refresh token than the one that was sent: then nothing else in it may cost that token (F345). */
function bringsOther({ status, text }: TokenResponse, presented: string): boolean {
  const [document = documentIn(text)] = isSuccess(status) ? holdersOfToken(documentIn(text) ?? {}) : []
  const next = isSuccess(status) ? memberOf(document, 'refresh_token') : undefined
  return typeof next === 'string' && next !== '' && next !== presented
}

type Tokens = Parameters<NonNullable<TokenSource['revoke']>>[0]

/** The media type and the text of a body. */
const WRITTEN = {
  form: (body: URLSearchParams) => ['application/x-www-form-urlencoded', body.toString()],
  json: (body: URLSearchParams) => ['application/json', JSON.stringify(Object.fromEntries(body))],
} as const satisfies Record<OAuth2Settings['body'], (body: URLSearchParams) => readonly [string, string]>

function errorOfResponse(answer: TokenResponse, { failure, advice, serviceCode }: ErrorResponse): TokenError {
  return rejection(answer, failure, advice, serviceCode)
}

function loginRequired(): TokenError {
  const message = 'A person must log in: pass the tokens of that login to adopt() of the token manager'
  return new TokenError('ERR_LOGIN_REQUIRED', message, { outcome: 'not-sent' })
}

function noRevocation(): TokenError {
  const message = 'The metadata of issuer name no revocation_endpoint: give revocationEndpoint'
  return new TokenError('ERR_TOKEN_REQUEST', message, { outcome: 'not-sent', revocation: 'no-endpoint' })
}

function noConfirmation({ address, status }: TokenResponse): TokenError {
  const message = `The answer of ${address} confirms nothing: it is HTML; check revocationEndpoint`
  return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown', status })
}
