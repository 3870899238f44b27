import { type AxiosAdapter, AxiosError, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import type { Clock } from '../core/clock.ts'
import { withinLimit } from '../core/deadline.ts'
import { isTokenError, TokenError } from '../core/errors.ts'
import type { TokenManager, WaitOptions } from '../core/token-manager.ts'
import { concealError, concealResponse } from './concealment.ts'
import { Journey } from './redirects.ts'
import { discard, isReplayable } from './replay.ts'

/** What an attachment does to the requests that it is in charge of. */
export interface Bearer {
  readonly tokens: TokenManager
  readonly clock: Clock
  readonly isHandMade: boolean
  readonly maxWaitMs: number
  readonly hasEnded: (token: string) => boolean
  readonly header: string
  readonly scheme: string
  readonly refuses: (response: AxiosResponse) => boolean
}

type Answer = { readonly response: AxiosResponse } | { readonly error: unknown; readonly response?: AxiosResponse }

/**
 * Sends one request with a token, below all interceptors and transforms, and once more when the API refuses the token and
 * another one can be had. Nobody above sees the header: a retry library starts from a clean config.
 *
 * @throws {TokenError} where no token can be had: the request is not sent.
 */
export async function sendWithToken(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  bearer: Bearer,
): Promise<AxiosResponse> {
  const { tokens } = bearer
  let wait: Wait | undefined
  let token = tokens.peekAccessToken()
  if (token === undefined) {
    wait = new Wait(config, bearer)
    // Again where a stall has outlasted the token that was waited for.
    do token = await wait.for((options) => tokens.getAccessToken(options))
    while (bearer.hasEnded(token))
  }
  const journey = new Journey(config)
  const first = await call(config, adapter, bearer, token, journey)
  if (!first.response || journey.hasLeft || !bearer.refuses(first.response)) return settled(first)
  if (journey.mayHaveActed || !isReplayable(config.data)) {
    // This one must not go out again; the next one fares better.
    void tokens.replaceAccessToken(token).catch(nothing)
    return settled(first)
  }
  const refused = token
  let next: string
  try {
    wait ??= new Wait(config, bearer)
    next = await wait.for((options) => tokens.replaceAccessToken(refused, options))
  } catch {
    return settled(first) // without another token the API's own answer says most
  }
  if (next === token) return settled(first)
  discard(first.response)
  return settled(await call(config, adapter, bearer, next, new Journey(config)))
}

async function call(
  config: InternalAxiosRequestConfig,
  adapter: AxiosAdapter,
  { header, scheme }: Bearer,
  token: string,
  journey: Journey,
): Promise<Answer> {
  const { headers, beforeRedirect, maxRedirects, fetchOptions } = config
  // `set` would search, on every request, for a header that is known to be absent.
  headers[header] = scheme === '' ? token : `${scheme} ${token}`
  const name = header.toLowerCase()
  // Only `Authorization` is taken off a request that is redirected to another origin.
  const followsRedirects = name === 'authorization'
  if (followsRedirects) config.beforeRedirect = journey.beforeRedirect(name)
  else config.maxRedirects = 0
  config.fetchOptions = journey.fetchOptions(followsRedirects ? undefined : 'manual')
  try {
    const response = await adapter(config)
    concealResponse(response, name, headers)
    return { response }
  } catch (error) {
    const { response } = (error ?? {}) as { response?: AxiosResponse }
    concealError(error, name, headers)
    concealResponse(response, name, headers)
    return response ? { error, response } : { error }
  } finally {
    headers.delete(header)
    putBack(config, 'beforeRedirect', beforeRedirect)
    putBack(config, 'maxRedirects', maxRedirects)
    putBack(config, 'fetchOptions', fetchOptions)
  }
}

/** What was absent is absent again. */
function putBack<Name extends keyof InternalAxiosRequestConfig>(
  config: InternalAxiosRequestConfig,
  name: Name,
  value: InternalAxiosRequestConfig[Name] | undefined,
): void {
  if (value !== undefined) config[name] = value
  else if (name in config) Reflect.deleteProperty(config, name)
}

function settled(answer: Answer): AxiosResponse {
  if ('error' in answer) throw answer.error
  return answer.response
}

/** The waiting of one request: a single budget for the first token and for the replay's. */
class Wait {
  readonly #config: InternalAxiosRequestConfig
  readonly #bearer: Bearer
  #spentMs = 0

  constructor(config: InternalAxiosRequestConfig, bearer: Bearer) {
    this.#config = config
    this.#bearer = bearer
  }

  /** An abort makes `ask` reject, with whatever reason: axios turns any rejection of a cancelled request into its own. */
  async for(ask: (options: WaitOptions) => Promise<string>): Promise<string> {
    const { clock, maxWaitMs } = this.#bearer
    const timeoutMs = Number(this.#config.timeout) || Infinity
    const cancelled = cancellation(this.#config)
    const startedAt = clock.monotonicNow()
    try {
      const leftMs = Math.max(0, Math.min(timeoutMs, maxWaitMs) - this.#spentMs)
      const asked = ask({ signal: cancelled.signal, maxWaitMs: leftMs })
      const token = await (this.#bearer.isHandMade ? within(leftMs, clock, asked) : asked)
      // The process may have stalled beyond the request's own timeout.
      if (clock.monotonicNow() - startedAt > timeoutMs - this.#spentMs) throw timeoutError(this.#config)
      return token
    } catch (error) {
      if (timeoutMs < maxWaitMs && isTokenError(error, 'ERR_WAIT_TIMEOUT')) throw timeoutError(this.#config)
      throw error
    } finally {
      this.#spentMs += clock.monotonicNow() - startedAt
      cancelled.forget()
    }
  }
}

/** A manager that is not ours may know no limit but its signal. */
function within(ms: number, clock: Clock, asked: Promise<string>): Promise<string> {
  const atLimit = () => new TokenError('ERR_WAIT_TIMEOUT', `No access token came within ${ms} ms`)
  return withinLimit(asked, { clock, ms, holdsProcess: true, atLimit })
}

const nothing = (): void => undefined

/** The request's own `signal`, or one that ends with its `cancelToken` too. */
function cancellation({ signal, cancelToken }: InternalAxiosRequestConfig) {
  // axios takes anything that resembles a signal.
  const own = signal && 'throwIfAborted' in signal ? (signal as AbortSignal) : undefined
  const alike = own ? undefined : signal
  if (!cancelToken && !alike) return { signal: own, forget: nothing }
  const controller = new AbortController()
  const abort = () => controller.abort()
  // Missing in axios' types.
  const token = cancelToken as Record<'subscribe' | 'unsubscribe', (listener: () => void) => void> | undefined
  token?.subscribe(abort)
  alike?.addEventListener?.('abort', abort)
  if (alike?.aborted) abort()
  const forget = () => {
    token?.unsubscribe(abort)
    alike?.removeEventListener?.('abort', abort)
  }
  return { signal: own ? AbortSignal.any([own, controller.signal]) : controller.signal, forget }
}

/** The error that axios itself would give. */
function timeoutError(config: InternalAxiosRequestConfig): AxiosError {
  // As axios: an empty one counts as none.
  // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing
  const message = config.timeoutErrorMessage || `timeout of ${config.timeout}ms exceeded`
  const code = config.transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
  return new AxiosError(message, code, config)
}
