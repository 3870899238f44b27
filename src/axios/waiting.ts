import { AxiosError, CanceledError, type InternalAxiosRequestConfig } from 'axios'
import { promised } from '../client/promised.ts'
import type { TokenAccess, WaitLimits } from '../client/token-access.ts'
import { isTokenError, TokenError } from '../core/errors.ts'
import { memberOf } from './member-of.ts'
import { ofRequest } from './request-error.ts'

/** The waits of one request: one budget for its first token, for the token of its replay, and for proofs. */
export class WaitBudget {
  readonly #config: InternalAxiosRequestConfig
  readonly #access: TokenAccess
  #spentMs = 0
  #startedAt = 0
  #forget: (() => void) | undefined

  constructor(config: InternalAxiosRequestConfig, access: TokenAccess) {
    this.#config = config
    this.#access = access
  }

  /** @param owner What `use` works on: so that a request that waits needs no function of its own. @returns what `use` makes of the token. */
  forToken<Owner, Result>(use: (token: string, owner: Owner) => Promise<Result>, owner: Owner): Promise<Result> {
    return this.#after(
      promised(() => this.#access.get(this.#begin())),
      use,
      owner,
    )
  }

  forAnotherThan(refused: string): Promise<string> {
    return this.#after(
      promised(() => this.#access.replace(refused, this.#begin())),
      (token) => token,
    )
  }

  /** @param prove Makes a proof. It may take long: the key may be elsewhere. @returns what `use` makes of the proof */
  forProof<Result>(
    prove: (limits: WaitLimits) => Promise<string>,
    use: (proof: string) => Promise<Result>,
  ): Promise<Result> {
    return this.#after(
      promised(() => prove(this.#begin())),
      use,
    )
  }

  #begin(): WaitLimits {
    const { clock, maxWaitMs } = this.#access
    const { signal, forget } = cancellation(this.#config)
    this.#forget = forget
    this.#startedAt = clock.monotonicNow()
    return { signal, maxWaitMs: Math.max(0, Math.min(this.#timeoutMs, maxWaitMs) - this.#spentMs) }
  }

  /**
   * Not an async function, and with little in its closures: ten thousand requests may wait. After an abort `pending` may reject with any reason,
   * because axios rejects a cancelled request with its own error.
   */
  #after<Owner, Result>(
    pending: Promise<string>,
    use: (brought: string, owner: Owner) => Result | Promise<Result>,
    owner?: Owner,
  ): Promise<Result> {
    return pending.then(
      (token) => {
        this.#ended()
        // The process may have stalled beyond the request's own timeout.
        if (this.#spentMs > this.#timeoutMs)
          throw timeoutError(
            this.#config,
            new TokenError('ERR_WAIT_TIMEOUT', 'The token came too late for this request'),
          )
        return use(token, owner as Owner)
      },
      (error: unknown) => {
        this.#ended()
        throw this.#told(error)
      },
    )
  }

  #ended(): void {
    this.#spentMs += this.#access.clock.monotonicNow() - this.#startedAt
    this.#forget?.()
  }

  /** What the request rejects with. */
  #told(error: unknown): unknown {
    const isOwnLimit = this.#timeoutMs < this.#access.maxWaitMs && isTokenError(error, 'ERR_WAIT_TIMEOUT')
    return isOwnLimit ? timeoutError(this.#config, error) : ofRequest(error, this.#config)
  }

  /** The timeout of the request; Infinity if it has none. */
  get #timeoutMs(): number {
    return Number(memberOf(this.#config, 'timeout')) || Infinity
  }
}

/** The request's own `signal`, or one that its `cancelToken` and the stream of its body abort, too. */
function cancellation(config: InternalAxiosRequestConfig): Cancellation {
  const { signal, cancelToken } = config
  const body = streamIn(config)
  // axios takes anything that resembles a signal.
  if (!cancelToken && !body && (!signal || 'throwIfAborted' in signal))
    return { signal: signal as AbortSignal | undefined }
  const controller = new AbortController()
  const abort = () => controller.abort()
  // `AbortSignal.any` takes no signal of another make. It needs no listener on a signal that a thousand requests share.
  const native = signal instanceof AbortSignal ? signal : undefined
  const alike = native ? undefined : signal
  // Missing in axios' types.
  const token = cancelToken as Record<'subscribe' | 'unsubscribe', (listener: () => void) => void> | undefined
  token?.subscribe(abort)
  alike?.addEventListener?.('abort', abort)
  if (alike?.aborted) abort()
  // axios itself does the same as soon as it sends the body.
  const onError = (error: unknown) => controller.abort(AxiosError.from(error, undefined, config))
  body?.on('error', onError)
  const onClose = () => controller.abort(new CanceledError('Request stream has been aborted', config))
  body?.on('close', onClose)
  const forget = () => {
    body?.off('close', onClose)
    body?.off('error', onError)
    // An error that no listener hears ends the process. One listener is enough, however often the body is sent.
    body?.off('error', ignore)
    body?.on('error', ignore)
    token?.unsubscribe(abort)
    alike?.removeEventListener?.('abort', abort)
  }
  return { signal: native ? AbortSignal.any([native, controller.signal]) : controller.signal, forget }
}

const ignore = () => undefined

type BodyStream = Record<'on' | 'off', (event: 'error' | 'close', listener: (error?: unknown) => void) => unknown>

function streamIn({ data }: InternalAxiosRequestConfig<unknown>): BodyStream | undefined {
  const { on, off, pipe } = (data ?? {}) as Partial<BodyStream> & { pipe?: unknown }
  return [on, off, pipe].every((one) => typeof one === 'function') ? (data as BodyStream) : undefined
}

interface Cancellation {
  readonly signal?: AbortSignal | undefined
  readonly forget?: () => void
}

/** The error that axios itself would give, with what ended the wait as its cause. */
function timeoutError(config: InternalAxiosRequestConfig, cause: unknown): AxiosError {
  // As in axios, an empty message counts as none.
  const message =
    // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing
    config.timeoutErrorMessage || `timeout of ${config.timeout}ms exceeded: the request waited for a token`
  const code = config.transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
  const error = new AxiosError(message, code, config)
  return Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true })
}
