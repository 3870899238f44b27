import { Axios, type AxiosAdapter, AxiosHeaders, type AxiosRequestConfig, type AxiosResponse } from 'axios'
import { TokenError } from '../core/errors.ts'
import { checkObject, ownOptions } from '../core/option-checks.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import { type AnswerBody, readBody } from './answer-body.ts'
import { brokenOff, tooLate } from './broken-off.ts'
import { parseRetryAfter } from './http-date.ts'
import { unheldTransport } from './unheld-transport.ts'

/** How the calls to a token service travel. */
export interface TokenCallOptions {
  /** Transport settings for token calls only: proxy, agents, adapter, extra headers. Read once. */
  transport?:
    | Pick<AxiosRequestConfig, 'adapter' | 'headers' | 'httpAgent' | 'httpsAgent' | 'proxy' | 'socketPath' | 'lookup'>
    | undefined
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

type Transport = NonNullable<TokenCallOptions['transport']>

const TRANSPORT_OPTIONS = [
  'adapter',
  'headers',
  'httpAgent',
  'httpsAgent',
  'proxy',
  'socketPath',
  'lookup',
] as const satisfies (keyof Transport)[]

/** What is sent, as text. */
export interface TokenCall {
  readonly url: URL
  readonly body: string
  /** They win over those of `transport`. */
  readonly headers: Readonly<Record<string, string>>
}

/** A complete answer. */
export interface Answered {
  readonly status: number
  readonly url: URL
  /** Origin and path, for messages. */
  readonly address: string
  readonly text: string
  readonly headers: AxiosHeaders
  /** What it asks for, ms; undefined for nothing that can be believed. */
  readonly retryAfterMs: number | undefined
  /** The headers that were sent, which an answer may echo. */
  readonly sent: readonly unknown[]
}

/** An instance of its own: defaults and interceptors of the user's axios must not change a token call. */
const axios = /* @__PURE__ */ new Axios()

/** Makes token calls: one POST each, bounded in size here and in time by its signal, never redirected. */
export class TokenCalls {
  readonly #transport: Transport

  /** @throws {TypeError} naming the option. */
  constructor(transport: Transport = {}) {
    this.#transport = ownTransport(transport)
  }

  /**
   * @returns The answer, whatever its status.
   * @throws {TokenError} by what is known of a connection that failed, or `ERR_TOKEN_RESPONSE` for an answer of status 2xx
   * that is too large or no UTF-8.
   */
  async post(call: TokenCall, context: ExchangeContext): Promise<Answered> {
    const { url } = call
    const address = url.origin + url.pathname
    if (context.signal.aborted) throw tooLate(address)
    const request = this.#request(call, context)
    let response: AxiosResponse<unknown> | undefined
    let headers: AxiosHeaders
    let body: AnswerBody
    try {
      response = await axios.request<unknown>(request).catch(answered)
      // Adapters of the user's may spell them in any case.
      headers = AxiosHeaders.from(response.headers as AxiosHeaders)
      body = await readBody(response.data, headers)
    } catch (thrown) {
      throw brokenOff(thrown, address, response?.status)
    }
    const { status } = response
    const { text, flaw } = body
    if (isSuccess(status) && flaw !== undefined)
      throw new TokenError('ERR_TOKEN_RESPONSE', `The answer of ${address} is ${flaw}`, { outcome: 'unknown', status })
    const retryAfterMs = isRepeated(response, 'retry-after')
      ? undefined
      : parseRetryAfter(headers.get('retry-after'), headers.get('date'), context.clock.wallNow())
    return { status, url, address, text, headers, retryAfterMs, sent: Object.values(request.headers ?? {}) }
  }

  #request({ url, body, headers: own }: TokenCall, { signal, holdsProcess = true }: ExchangeContext) {
    const { adapter = ['xhr', 'http', 'fetch'], headers, ...settings } = this.#transport
    const sent = new AxiosHeaders(headers as never).set(own)
    // Own members only: axios reads no others, so nothing that Object.prototype holds has a say.
    const request: AxiosRequestConfig = {
      ...settings,
      ...(!holdsProcess && { transport: unheldTransport() }),
      adapter: typeof adapter === 'function' ? withoutItself(adapter) : adapter,
      // Sent through an instance that is attached, it would wait for itself.
      evergreen: false,
      url: url.href,
      method: 'post',
      data: body,
      signal,
      // Older axios would look for more headers under these two names, on Object.prototype too.
      headers: Object.assign({}, sent, { common: new AxiosHeaders(), post: new AxiosHeaders() }),
      // A redirect would deliver the credentials to whoever is named in it. Older axios needs the second line under fetch.
      maxRedirects: 0,
      fetchOptions: { redirect: 'manual' },
      responseType: 'stream',
      // workerd: axios looks for streams when it is loaded, where workerd allows none. A constructor of our own makes axios look again.
      env: { Response: globalThis.Response } as never,
      validateStatus: null,
    }
    return request
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
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
