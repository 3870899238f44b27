import library, {
  Axios,
  type AxiosAdapter,
  AxiosHeaders,
  getAdapter,
  type AxiosRequestConfig,
  type AxiosResponse,
} from 'axios'
import { TokenError } from '../core/errors.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import { asGiven, checkObject, kindOf, type Readers, readOptions } from '../core/option-checks.ts'
import { checkAxios } from '../core/runtime.ts'
import { member, quietly } from '../core/thrown.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { type ResponseBody, readBody } from './response-body.ts'
import { type TokenResponse, isSuccess } from './token-response.ts'
import { connectionError, deadlineError } from './connection-error.ts'
import { parseRetryAfter } from './http-date.ts'
import { checkNotFromProxy, throughProxy } from './proxy.ts'
import { unheldTransport } from './unheld-transport.ts'

export interface TokenServiceOptions {
  /** `{base_url}` of the payment service's specification, with or without a trailing slash. It may have a path prefix. */
  baseUrl: string | URL
  /** Transport settings for token requests only: proxy, agents, adapter, extra headers. Read once. */
  transport?:
    | Pick<AxiosRequestConfig, 'adapter' | 'headers' | 'httpAgent' | 'httpsAgent' | 'proxy' | 'socketPath' | 'lookup'>
    | undefined
  /** Send credentials over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
}

type Transport = NonNullable<TokenServiceOptions['transport']>

const TRANSPORT = {
  adapter: checkedAdapters,
  headers: (name, given = {}) => {
    checkObject(name, given)
    return new AxiosHeaders(given as never)
  },
  httpAgent: asGiven,
  httpsAgent: asGiven,
  proxy: asGiven,
  socketPath: asGiven,
  lookup: asGiven,
} satisfies Readers<Transport>

/** One token request: a POST of text, or a GET. */
export interface TokenCall {
  readonly url: URL
  /** Undefined for a GET. */
  readonly body?: string
  /** These headers take precedence over those of `transport`. */
  readonly headers: Readonly<Record<string, string>>
}

const MOCKED = 'axios is a mock: if a test mocks axios, mock axios-evergreen, too'

let own: Axios | undefined

/**
 * A separate instance: defaults and interceptors of the user's axios must not affect token requests.
 *
 * @throws {TokenError} `ERR_TOKEN_SOURCE` if axios is a mock.
 */
function ownAxios(): Axios {
  own ??= new Axios()
  // The constructor of a mock returns an empty object.
  if (own.interceptors as unknown) return own
  throw new TokenError('ERR_TOKEN_SOURCE', MOCKED, { outcome: 'not-sent', refreshToken: 'kept' })
}

/** Sends token requests. The response is limited in size here, and in time by the signal. Redirects are not followed. */
export class TokenCalls {
  readonly #transport: ReturnType<typeof ownTransport>

  /** @throws {TypeError} naming the option, or the version of axios to install. */
  constructor(transport: Transport = {}) {
    checkAxios(library)
    if (typeof Axios !== 'function') throw new TypeError(MOCKED)
    this.#transport = ownTransport(transport)
  }

  /**
   * @returns The response, of any status.
   * @throws {TokenError} `ERR_TOKEN_SERVICE_UNAVAILABLE` or `ERR_TOKEN_REQUEST` if the connection failed, the deadline has passed, or a proxy responded
   * with a page of its own; `ERR_TOKEN_RESPONSE` if the body of a 2xx response cannot be read; `ERR_TOKEN_SOURCE` if axios is a mock, or if a member of
   * `Object.prototype` would send the request elsewhere.
   */
  async send(call: TokenCall, context: ExchangeContext): Promise<TokenResponse> {
    const { url } = call
    const address = addressOf(url, context)
    if (context.signal.aborted) throw deadlineError(address)
    const axios = ownAxios()
    const request = this.#request(call, context)
    checkSocket(request)
    let response: AxiosResponse<unknown> | undefined
    let headers: AxiosHeaders
    let body: ResponseBody
    try {
      response = await axios.request<unknown>(request).catch(responseIn)
      // A custom adapter may return header names in any case.
      headers = AxiosHeaders.from(response.headers as AxiosHeaders)
      body = await readBody(response.data, headers)
    } catch (thrown) {
      throw connectionError(thrown, address, response?.status, this.#proxyOf(response ?? thrown, url))
    }
    // A custom adapter may return the status as text.
    const shown: unknown = response.status
    // A browser hides the status of a redirect that fetch does not follow. The meaning of 0 in a custom adapter is unknown.
    const status = Number(shown) || (typeof this.#transport.adapter === 'function' ? 0 : 300)
    const { text, flaw } = body
    if (isSuccess(status) && flaw !== undefined)
      throw new TokenError('ERR_TOKEN_RESPONSE', `The response from ${address} is ${flaw}`, {
        outcome: 'unknown',
        status,
      })
    const retryAfterMs = isRepeated(response, 'retry-after')
      ? undefined
      : parseRetryAfter(headers.get('retry-after'), headers.get('date'), context.clock.wallNow())
    const proxy = this.#proxyOf(response, url)
    const sent = Object.values(request.headers ?? {})
    return checkNotFromProxy({ status, url, address, text, flaw, headers, retryAfterMs, sent, proxy })
  }

  #proxyOf(responseOrError: unknown, url: URL): string | undefined {
    return throughProxy(member(responseOrError, 'request'), url, this.#transport.proxy)
  }

  #request({ url, body, headers: own }: TokenCall, context: ExchangeContext) {
    const { holdsProcess = true } = internalOf(context)
    // XMLHttpRequest is not the first choice: it follows redirects, and a 307 or 308 would send the credentials to the target.
    const { adapter = ['http', 'fetch', 'xhr'], headers, ...settings } = this.#transport
    const sent = new AxiosHeaders(headers).set(own)
    // Own members only: except in `headers`, axios reads no others, so members of Object.prototype cannot change the request.
    const request: AxiosRequestConfig = {
      ...settings,
      ...(!holdsProcess && { transport: unheldTransport() }),
      adapter: typeof adapter === 'function' ? withoutItself(adapter) : adapter,
      // Otherwise a request through an attached instance would wait for the token that it should obtain.
      evergreen: false,
      url: url.href,
      method: body === undefined ? 'get' : 'post',
      data: body,
      signal: context.signal,
      // Older versions of axios look for more headers under these names, even on Object.prototype.
      headers: Object.assign({}, sent, {
        common: new AxiosHeaders(),
        post: new AxiosHeaders(),
        get: new AxiosHeaders(),
      }),
      // A redirect would send the credentials to its target. Older versions of axios need `fetchOptions` for the fetch adapter. Frameworks cache the
      // POSTs of fetch by address and body, so a repeated obtain would return the expired token.
      maxRedirects: 0,
      fetchOptions: { redirect: 'manual', ...(mayForbidCaches() && { cache: 'no-store' }) },
      // No cookies: a token service needs none, and a browser that may send them asks the user for a password if the response has a challenge.
      withCredentials: false,
      // XMLHttpRequest has no streams.
      responseType: 'XMLHttpRequest' in globalThis ? 'text' : 'stream',
      // axios tests for streams when it is loaded, which workerd does not allow. An explicit `Response` makes axios test again.
      env: { Response: globalThis.Response } as never,
      validateStatus: null,
    }
    return request
  }
}

/** Some worker runtimes throw if `cache` is given. */
function mayForbidCaches(): boolean {
  return quietly(() => new Request('https://a.example', { cache: 'no-store' } as object)) !== undefined
}

/** @returns The address for messages. */
function addressOf({ origin, pathname }: URL, context: ExchangeContext): string {
  const address = origin + pathname
  if (context.exchange === undefined) return address
  internalOf(context).sendsTo?.(address)
  return `${address} (${context.exchange} request)`
}

/** @throws {TokenError} `ERR_TOKEN_SOURCE`. The manager would not keep the message of another error. */
function checkSocket(request: AxiosRequestConfig): void {
  const chosen = getAdapter as (adapter: unknown, config: object) => AxiosAdapter
  const message = foreignSocket(quietly(() => chosen(request.adapter, request)))
  if (message === undefined) return
  const cause = new TypeError(message)
  throw new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'not-sent', refreshToken: 'kept', cause })
}

/** Removes the adapter from the config. Otherwise an axios instance that receives the config would call it again, endlessly. */
function withoutItself(adapter: AxiosAdapter): AxiosAdapter {
  return (config) => {
    delete config.adapter
    return adapter(config)
  }
}

/** @returns A copy of the object's own properties: neither a later change nor a member of Object.prototype can send credentials elsewhere. */
function ownTransport(given: Transport) {
  if (Object.hasOwn(Object(given) as object, 'timeout'))
    throw new TypeError('transport has no timeout: exchangeTimeoutMs of createTokenManager limits a token request')
  return readOptions('transport', given, TRANSPORT)
}

/** axios would throw only when the request is sent, as if the service were down. Later versions of axios may have more adapters. */
function checkedAdapters(name: string, given: unknown): Transport['adapter'] {
  for (const one of [given].flat())
    if (!['undefined', 'function', 'string'].includes(typeof one))
      throw new TypeError(`${name} must be a function, or http, fetch or xhr, got ${kindOf(one)}`)
  return given as Transport['adapter']
}

/** Whether a response has a header more than once. Node keeps only the first one, which may not be the one that counts. */
function isRepeated(response: AxiosResponse<unknown>, name: string): boolean {
  const { res } = (response.request ?? {}) as { res?: { rawHeaders?: string[] } }
  return (res?.rawHeaders ?? []).filter((text, n) => n % 2 === 0 && text.toLowerCase() === name).length > 1
}

/** A custom adapter may reject with a complete response, despite `validateStatus`. */
function responseIn(thrown: unknown): AxiosResponse<unknown> {
  const { response } = (thrown ?? {}) as { response?: AxiosResponse<unknown> }
  // A `response` on Object.prototype is not the response. axios copies it into errors of fetch.
  if (response === Reflect.get(Object.prototype, 'response')) throw thrown
  // A response without data is incomplete.
  if (response?.data === undefined) throw thrown
  return response
}
