import { asGiven, checkedFlag, type Readers } from '../core/option-checks.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { Exchange, ExchangeContext } from '../core/token-source.ts'
import { rejection } from '../wire/error-response.ts'
import { isSuccess } from '../wire/token-response.ts'
import { TokenCalls, type TokenServiceOptions } from '../wire/token-call.ts'
import { meaningOf } from './error-advice.ts'
import { USE_OAUTH, requestDocument, serviceCodeOf, type SuccessResponse } from './token-document.ts'

export const SERVICE_OPTIONS = {
  baseUrl: asGiven,
  transport: asGiven,
  allowInsecureHttp: checkedFlag,
} satisfies Readers<TokenServiceOptions>
const PATHS: Record<Exchange, string> = { obtain: 'token/', refresh: 'token/refresh/' }
const MEDIA_TYPE = 'application/vnd.api+json'
const HEADERS = { Accept: MEDIA_TYPE, 'Content-Type': MEDIA_TYPE }

/** The endpoints of the token service. */
export class TokenEndpoint {
  readonly origin: string
  /** The base URL in one canonical spelling. */
  readonly href: string
  readonly #calls: TokenCalls
  /** The variant that the source uses, for messages. */
  readonly #variant: string

  /** @throws {TypeError} naming the option. */
  constructor({ baseUrl, transport, allowInsecureHttp = false }: TokenServiceOptions, variant: string) {
    this.#variant = variant
    const url = checkedSecureUrl('baseUrl', baseUrl, allowInsecureHttp)
    url.pathname = `${url.pathname}/`.replace(/\/{2,}/g, '/')
    url.hash = ''
    const [before] = url.pathname.split(/\/token\/(?:refresh\/)?$/)
    if (before !== url.pathname)
      throw new TypeError(
        `baseUrl must end before /token, which each call adds: write '${url.origin}${before}'; for an OAuth 2.0 server ${USE_OAUTH}`,
      )
    this.origin = url.origin
    this.href = url.href
    this.#calls = new TokenCalls(transport)
  }

  /**
   * Sends one token request (specification, section 4).
   *
   * @throws {TokenError} by status (section 7); as `TokenCalls.send` does if the connection failed, or the response is too large or not
   * UTF-8.
   */
  async post(
    exchange: Exchange,
    attributes: Readonly<Record<string, string>>,
    context: ExchangeContext,
  ): Promise<SuccessResponse> {
    const url = new URL(this.href)
    url.pathname += PATHS[exchange]
    const response = await this.#calls.send({ url, body: requestDocument(attributes), headers: HEADERS }, context)
    const { status, address, text, headers, sent } = response
    if (isSuccess(status)) return { text, date: headers.get('date'), address, status, proxy: response.proxy }
    const meaning = meaningOf(exchange, response, this.#variant)
    const serviceCode = serviceCodeOf(text, [...sent, ...Object.values(attributes)])
    throw rejection(response, meaning, meaning.advice, serviceCode)
  }
}
