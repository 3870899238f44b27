import { TokenError } from '../core/errors.ts'
import type { Exchange, ExchangeContext, TokenGrant, TokenSource } from '../core/token-source.ts'
import { refused } from '../wire/refusal.ts'
import { isSuccess, TokenCalls } from '../wire/token-call.ts'
import { AnswerReader } from './answer-reader.ts'
import { authenticate } from './client-authentication.ts'
import { type OAuth2Options, type OAuth2Settings, oauth2Settings } from './oauth2-options.ts'
import { namesError, refusalOf } from './refusal-of.ts'

/**
 * A token source for any OAuth 2.0 token endpoint (RFC 6749, sections 2.3, 4.4, 5 and 6): with client credentials, or with the
 * refresh tokens of a login that happened elsewhere (`adopt`). `invalid_grant` on a refresh refuses the refresh token; the manager
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
 * const tokens = createTokenManager({
 *   source: oauth2({ tokenEndpoint: 'https://id.example.com/token', clientId: 'my-id', clientSecret: 'my-secret' }),
 * })
 * ```
 * @throws {TypeError | RangeError} naming the option.
 */
export function oauth2(options: OAuth2Options): TokenSource {
  return new OAuth2(oauth2Settings(options))
}

class OAuth2 implements TokenSource {
  readonly refreshTokens: 'single-use' | 'reusable'
  readonly reuseGraceMs: number
  readonly #settings: OAuth2Settings
  readonly #calls: TokenCalls
  readonly #reader: AnswerReader

  constructor(settings: OAuth2Settings) {
    this.refreshTokens = settings.refreshTokens
    this.reuseGraceMs = settings.reuseGraceMs
    this.#settings = settings
    this.#calls = new TokenCalls(settings.transport)
    this.#reader = new AnswerReader(settings.scope, settings.defaultLifetimeMs)
  }

  // An accessor, so that printing the source does not show the id.
  get id(): string {
    const { url, grant, client, account, scope, parameters } = this.#settings
    return `oauth2 ${JSON.stringify([url.href, grant, client.clientId, account, scope, parameters])}`
  }

  async obtain(context: ExchangeContext): Promise<TokenGrant> {
    const { grant, keepsAll } = this.#settings
    if (grant === 'login') throw loginRequired()
    const { refreshToken, refreshLifetimeMs, ...accessOnly } = await this.#exchange(
      'obtain',
      { grant_type: grant },
      context,
    )
    // The credentials can always obtain: a refresh token would only be one more secret to lose (RFC 6749, section 4.4.3).
    if (!keepsAll || refreshToken === undefined) return accessOnly
    return { ...accessOnly, refreshToken, ...(refreshLifetimeMs !== undefined && { refreshLifetimeMs }) }
  }

  refresh(refreshToken: string, context: ExchangeContext): Promise<TokenGrant> {
    return this.#exchange('refresh', { grant_type: 'refresh_token', refresh_token: refreshToken }, context)
  }

  async #exchange(exchange: Exchange, members: Record<string, string>, context: ExchangeContext): Promise<TokenGrant> {
    const { url, client, scope, parameters, grant } = this.#settings
    const body = new URLSearchParams([...Object.entries(members), ...parameters])
    if (scope.length > 0) body.set('scope', scope.join(' '))
    const headers = new Headers()
    const secret = await authenticate(client, body, headers)
    const call = { url, body: body.toString(), headers: { ...Object.fromEntries(headers), ...HEADERS } }
    const answer = await this.#calls.post(call, context)
    if (isSuccess(answer.status) && !namesError(answer.text)) return this.#reader.grantIn(answer, context.report)
    const isSent = (word: string) => [client.clientId, secret, ...body.values(), ...answer.sent].includes(word)
    const { failure, advice, serviceCode } = refusalOf(exchange, answer, grant, isSent)
    throw refused(answer, failure, advice, serviceCode)
  }
}

const HEADERS = { Accept: 'application/json', 'Content-Type': 'application/x-www-form-urlencoded' }

function loginRequired(): TokenError {
  const message = 'A person must log in: pass the tokens of that login to adopt() of the token manager'
  return new TokenError('ERR_LOGIN_REQUIRED', message, { outcome: 'not-sent' })
}
