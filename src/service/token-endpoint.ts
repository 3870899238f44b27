import { Axios, type AxiosAdapter, AxiosHeaders, type AxiosRequestConfig, type AxiosResponse } from 'axios'
import { TokenError } from '../core/errors.ts'
import { checkFlag, checkObject, ownOptions } from '../core/option-checks.ts'
import { parseRetryAfter } from '../wire/http-date.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { Exchange, ExchangeContext } from '../core/token-source.ts'
import { type AnswerBody, readBody } from './answer-body.ts'
import { brokenOff, refusal, tooLate } from './exchange-outcome.ts'
import { oauthErrorOf, requestDocument, serviceCodeOf, type TokenAnswer } from './token-document.ts'
import { unheldTransport } from './unheld-transport.ts'

export interface TokenServiceOptions {
  /** `{base_url}` of the specification, with or without trailing slash, path prefix allowed. */
  baseUrl: string | URL
  /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
  transport?:
    | Pick<AxiosRequestConfig, 'adapter' | 'headers' | 'httpAgent' | 'httpsAgent' | 'proxy' | 'socketPath' | 'lookup'>
    | undefined
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

type Transport = NonNullable<TokenServiceOptions['transport']>

export const SERVICE_OPTIONS = [
  'baseUrl',
  'transport',
  'allowInsecureHttp',
] as const satisfies (keyof TokenServiceOptions)[]
const TRANSPORT_OPTIONS = [
  'adapter',
  'headers',
  'httpAgent',
  'httpsAgent',
  'proxy',
  'socketPath',
  'lookup',
] as const satisfies (keyof Transport)[]
const PATHS: Record<Exchange, string> = { obtain: 'token/', refresh: 'token/refresh/' }
const MEDIA_TYPE = 'application/vnd.api+json'

/** The token service's address: one POST an exchange, bounded in size here and in time by its signal, never redirected. */
export class TokenEndpoint {
  readonly origin: string
  /** The base URL in one canonical spelling. */
  readonly href: string
  readonly #transport: Transport
  /** An instance of its own: defaults and interceptors of the user's axios must not change a token call. */
  readonly #axios = new Axios()
  /** What the source speaks, for messages. */
  readonly #variant: string

  /** @throws {TypeError} naming the option. */
  constructor({ baseUrl, transport = {}, allowInsecureHttp = false }: TokenServiceOptions, variant: string) {
    this.#variant = variant
    checkFlag('allowInsecureHttp', allowInsecureHttp)
    const url = checkedSecureUrl('baseUrl', baseUrl, allowInsecureHttp)
    url.pathname = `${url.pathname}/`.replace(/\/{2,}/g, '/')
    url.hash = ''
    const [before] = url.pathname.split(/\/token\/(?:refresh\/)?$/)
    if (before !== url.pathname)
      throw new TypeError(`baseUrl must end before /token, which each call adds: write '${url.origin}${before}'`)
    this.origin = url.origin
    this.href = url.href
    this.#transport = ownTransport(transport)
  }

  /**
   * Makes one call (specification, section 4).
   *
   * @throws {TokenError} by status (section 7), by what is known of a connection that failed, or `ERR_TOKEN_RESPONSE` for an
   * answer that is too large or no UTF-8.
   */
  async post(
    exchange: Exchange,
    attributes: Readonly<Record<string, string>>,
    context: ExchangeContext,
  ): Promise<TokenAnswer> {
    const url = new URL(this.href)
    url.pathname += PATHS[exchange]
    const address = url.origin + url.pathname
    if (context.signal.aborted) throw tooLate(address)
    const request = this.#request(url, requestDocument(attributes), context)
    let response: AxiosResponse<unknown> | undefined
    let headers: AxiosHeaders
    let body: AnswerBody
    try {
      response = await this.#axios.request<unknown>(request).catch(answered)
      // Adapters of the user's may spell them in any case.
      headers = AxiosHeaders.from(response.headers as AxiosHeaders)
      body = await readBody(response.data, headers)
    } catch (thrown) {
      throw brokenOff(thrown, address, response?.status)
    }
    const { status } = response
    const { text, flaw } = body
    const date = headers.get('date')
    if (status >= 200 && status <= 299) {
      if (flaw === undefined) return { text, date, address, status }
      throw new TokenError('ERR_TOKEN_RESPONSE', `The answer of ${address} is ${flaw}`, { outcome: 'unknown', status })
    }
    const answer = {
      status,
      url,
      location: headers.get('location'),
      oauthError: oauthErrorOf(text),
      variant: this.#variant,
    }
    const { failure, advice } = refusal(exchange, answer)
    throw new TokenError(failure.code, `${address} answered ${status}: ${advice}`, {
      ...failure,
      status,
      serviceCode: serviceCodeOf(text, [attributes, request.headers ?? {}].flatMap(Object.values<unknown>)),
      retryAfterMs: isRepeated(response, 'retry-after')
        ? undefined
        : parseRetryAfter(headers.get('retry-after'), date, context.clock.wallNow()),
    })
  }

  #request(url: URL, data: string, { signal, holdsProcess = true }: ExchangeContext): AxiosRequestConfig {
    const { adapter = ['xhr', 'http', 'fetch'], headers, ...settings } = this.#transport
    const sent = new AxiosHeaders(headers as never).set({ Accept: MEDIA_TYPE, 'Content-Type': MEDIA_TYPE })
    // Own members only: axios reads no others, so nothing that Object.prototype holds has a say.
    return {
      ...settings,
      ...(!holdsProcess && { transport: unheldTransport() }),
      adapter: typeof adapter === 'function' ? withoutItself(adapter) : adapter,
      // Sent through an instance that is attached, it would wait for itself.
      evergreen: false,
      url: url.href,
      method: 'post',
      data,
      signal,
      // Older axios would look for more headers under these two names, on Object.prototype too.
      headers: Object.assign({}, sent, { common: new AxiosHeaders(), post: new AxiosHeaders() }),
      // A redirect would deliver the credentials to whoever is named in it. Older axios needs the second line under fetch.
      maxRedirects: 0,
      fetchOptions: { redirect: 'manual' },
      responseType: 'stream',
      validateStatus: null,
    }
  }
}

/** An instance that the adapter hands its config to would call it again, for ever. */
function withoutItself(adapter: AxiosAdapter): AxiosAdapter {
  return (config) => {
    delete config.adapter
    return adapter(config)
  }
}

/** A copy of own members: what is changed later, or stands on Object.prototype, leads no credentials elsewhere. */
function ownTransport(given: Transport): Transport {
  checkObject('transport', given)
  if (Object.hasOwn(given, 'timeout'))
    throw new TypeError('transport has no timeout: exchangeTimeoutMs of createTokenManager limits a token call')
  const transport = ownOptions('transport', given, TRANSPORT_OPTIONS)
  transport.headers = new AxiosHeaders(transport.headers as never)
  return transport
}

/** Node keeps the first of several such headers; which of them is meant, nobody knows. */
function isRepeated(response: AxiosResponse<unknown>, name: string): boolean {
  const { res } = (response.request ?? {}) as { res?: { rawHeaders?: string[] } }
  return (res?.rawHeaders ?? []).filter((text, n) => n % 2 === 0 && text.toLowerCase() === name).length > 1
}

/** Adapters of the user's may reject with a complete answer, whatever `validateStatus` says. */
function answered(thrown: unknown): AxiosResponse<unknown> {
  const { response } = (thrown ?? {}) as { response?: AxiosResponse<unknown> }
  // What stands on the prototype of all objects is no answer; axios copies it into errors of fetch.
  if (response === Reflect.get(Object.prototype, 'response')) throw thrown
  // Without data it broke off.
  if (response?.data === undefined) throw thrown
  return response
}
