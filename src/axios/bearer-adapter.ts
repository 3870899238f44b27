import type { AxiosAdapter, AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { isIdempotent, isReplayable } from '../client/bodies.ts'
import { type OriginBinding, mayFollowRedirects } from '../client/origin-binding.ts'
import { received, BearerRequest, deliver, failed, type RequestLimits } from '../client/bearer-request.ts'
import { promised } from '../client/promised.ts'
import type { SentRequest } from '../core/proofs.ts'
import { isTokenError } from '../core/errors.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import { type Serializer, snapshotConfig } from './config-snapshot.ts'
import { concealAgents, concealError, concealResponse, withHiddenRequest } from './concealment.ts'
import { discard } from './discard.ts'
import { deleteHeader, headersWithout } from './header-names.ts'
import { memberOf } from './member-of.ts'
import { addressOf } from './origin-scope.ts'
import { type RedirectTrail, trailOf, trailTo } from './redirects.ts'
import { errorForRequest } from './request-error.ts'
import { sendWithoutRedirects } from './without-redirects.ts'
import { cancellation, timeoutError } from './waiting.ts'

export type Binding = OriginBinding<AxiosResponse>
type Config = InternalAxiosRequestConfig

/**
 * Sends one request with a token, below all interceptors and transforms. Interceptors never see the header, so a retry library starts from a clean
 * config.
 *
 * @param generation The login generation in which the request began.
 */
export function sendWithToken(
  config: Config,
  adapter: AxiosAdapter,
  binding: Binding,
  generation: number | undefined,
): Promise<AxiosResponse> {
  try {
    return deliver(new AxiosRequest(config, adapter, binding, generation))
  } catch (error) {
    return Promise.reject(errorForRequest(error, config))
  }
}

class AxiosRequest extends BearerRequest<AxiosResponse> {
  readonly config: Config
  readonly adapter: AxiosAdapter
  /** Returns the query string as it was when the caller made the request. */
  readonly serializer: Serializer | undefined
  readonly #place: SentRequest | undefined
  trail: RedirectTrail | undefined

  constructor(config: Config, adapter: AxiosAdapter, binding: Binding, generation: number | undefined) {
    super(binding, generation)
    this.config = config
    this.adapter = adapter
    this.serializer = snapshotConfig(config)
    this.#place = binding.prover && targetOf(config, this.serializer)
    this.trail = undefined
  }

  get signal(): AbortSignal | undefined {
    return this.config.signal as AbortSignal | undefined
  }

  limits(): RequestLimits {
    return { ...cancellation(this.config), timeoutMs: timeoutOf(this.config) }
  }

  /** Called only if a key signs the request. */
  target(): SentRequest {
    if (!this.#place) throw new TypeError('no key signs this request')
    return this.#place
  }

  headerOf({ headers }: AxiosResponse, name: string): unknown {
    // Adapters return header names in lower case. Test doubles may return no headers.
    return typeof headers === 'object' ? Reflect.get(headers, name) : undefined
  }

  hasLeftOrigin(): boolean {
    return this.trail === 'away'
  }

  isRepeatable(): boolean {
    const { config, trail } = this
    return (!trail || isIdempotent(config.method)) && isReplayable(config.data)
  }

  prepareReplay(response: AxiosResponse): void {
    discard(response)
    this.trail = undefined
  }

  errorForCaller(error: unknown): unknown {
    const { config, binding, spentMs } = this
    const timeoutMs = timeoutOf(config)
    const isOwnLimit =
      timeoutMs < Math.max(binding.access.maxWaitMs, spentMs) && isTokenError(error, 'ERR_WAIT_TIMEOUT')
    return isOwnLimit ? timeoutError(config, error) : errorForRequest(error, config)
  }

  /**
   * If a token is available and the API accepts it, a request costs one promise, and nothing is allocated in advance. Closures are in separate
   * functions, because V8 would otherwise allocate a scope for them on each call.
   */
  send(proof: string | undefined): Promise<AxiosResponse> {
    const { config, adapter, binding } = this
    const socket = foreignSocket(adapter, memberOf(config as { httpVersion?: unknown }, 'httpVersion'))
    if (socket !== undefined) throw new TypeError(socket)
    const { beforeRedirect, fetchOptions, maxRedirects, paramsSerializer } = config
    const own = { beforeRedirect, fetchOptions, maxRedirects, paramsSerializer }
    applyToken(this, proof)
    // Across origins, axios strips only `Authorization`.
    if (mayFollowRedirects(binding))
      config.beforeRedirect = (redirect, ...details) => {
        const { href, headers } = redirect as { href: string; headers: object }
        this.trail = trailTo(config, href, this.trail)
        // axios before 1.21 keeps the token for a subdomain, and from http to https. All versions keep it for the host in the caller's `Host` header.
        if (this.trail === 'away') deleteHeader(headers, binding.name)
        own.beforeRedirect?.(redirect, ...details)
      }
    return callAdapter(this).then(
      (response: AxiosResponse | undefined) => {
        restoreConfig(this, own, response?.request)
        const hidden = withHiddenRequest(response)
        concealResponse(hidden, binding.name, config.headers)
        // A custom adapter may resolve with nothing.
        return hidden ? received(this, hidden) : (hidden as never)
      },
      (error: unknown) => {
        const { response } = (error ?? {}) as { response?: AxiosResponse }
        restoreConfig(this, own, response?.request)
        concealError(error, binding.name, config.headers)
        concealResponse(response, binding.name, config.headers)
        failed(this, error)
        if (response) return received(this, response, { error })
        throw error
      },
    )
  }
}

function targetOf(config: Config, serializer: Serializer | undefined): SentRequest {
  const { method = 'get' } = config
  return { method: method.toUpperCase(), url: addressOf(config, serializer) ?? '' }
}

/** A custom adapter may throw, and may return no promise. */
function callAdapter({ adapter, config, binding }: AxiosRequest): Promise<AxiosResponse> {
  try {
    return Promise.resolve(
      mayFollowRedirects(binding) ? adapter(config) : sendWithoutRedirects(adapter, config, binding),
    )
  } catch (error) {
    return promised(() => {
      throw error
    })
  }
}

/** The members of the config that are replaced while the adapter runs. */
type Own = { readonly [Name in 'beforeRedirect' | 'fetchOptions' | 'maxRedirects' | 'paramsSerializer']: Config[Name] }

/** The timeout of the request; Infinity if it has none. */
const timeoutOf = (config: Config) => Number(memberOf(config, 'timeout')) || Infinity

/** Puts the token on the config, visible to the adapter alone. */
function applyToken({ config, binding, token, serializer }: AxiosRequest, proof: string | undefined): void {
  // `set` would search for a header that is known to be absent, on every request.
  config.headers[binding.header] = binding.text(token)
  if (proof !== undefined) config.headers.DPoP = proof
  if (serializer) config.paramsSerializer = serializer
  if (!mayFollowRedirects(binding)) {
    config.maxRedirects = 0
    config.fetchOptions = { ...config.fetchOptions, redirect: 'manual' }
  }
  concealAgents(config)
}

/** Restores the config, and notes where redirects led. */
function restoreConfig(request: AxiosRequest, own: Own, raw: unknown): void {
  const { config, binding, serializer } = request
  request.trail ??= trailOf(config, raw)
  config.headers = headersWithout(config.headers, binding.name, binding.prover && 'dpop')
  if (serializer) restoreMember(config, 'paramsSerializer', own.paramsSerializer)
  if (mayFollowRedirects(binding)) restoreMember(config, 'beforeRedirect', own.beforeRedirect)
  else restoreMember(config, 'maxRedirects', own.maxRedirects)
  if (config.fetchOptions !== own.fetchOptions) restoreMember(config, 'fetchOptions', own.fetchOptions)
}

/** Restores a member of the config, or removes it if it was absent. */
function restoreMember<Name extends keyof Config>(config: Config, name: Name, value: Config[Name] | undefined): void {
  if (value !== undefined) config[name] = value
  else Reflect.deleteProperty(config, name)
}
