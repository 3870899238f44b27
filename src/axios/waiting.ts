import { AxiosError, type InternalAxiosRequestConfig } from 'axios'
import { isTokenError } from '../core/errors.ts'
import { memberOf } from './member-of.ts'
import { promised } from './promised.ts'
import { ofRequest } from './request-error.ts'
import type { TokenAccess } from './token-access.ts'

/** The waiting of one request: a single budget for the first token and for the replay's. */
export class Wait {
  readonly #config: InternalAxiosRequestConfig
  readonly #access: TokenAccess
  #spentMs = 0

  constructor(config: InternalAxiosRequestConfig, access: TokenAccess) {
    this.#config = config
    this.#access = access
  }

  /** @returns what `use` makes of the token. */
  forToken<Result>(use: (token: string) => Promise<Result>): Promise<Result> {
    return this.#for((waiting) => this.#access.get(waiting), use)
  }

  forAnotherThan(refused: string): Promise<string> {
    return this.#for(
      (waiting) => this.#access.replace(refused, waiting),
      (token) => token,
    )
  }

  /**
   * Not asynchronous: of ten thousand requests that wait each would hold several promises more. An abort makes `ask` reject, with whatever
   * reason: axios turns any rejection of a cancelled request into its own.
   */
  #for<Result>(
    ask: (waiting: Parameters<TokenAccess['get']>[0]) => Promise<string> | string,
    use: (token: string) => Result | Promise<Result>,
  ): Promise<Result> {
    const { clock, maxWaitMs } = this.#access
    const timeoutMs = Number(memberOf(this.#config, 'timeout')) || Infinity
    const { signal, forget } = cancellation(this.#config)
    const startedAt = clock.monotonicNow()
    const end = () => {
      this.#spentMs += clock.monotonicNow() - startedAt
      forget?.()
    }
    const leftMs = Math.max(0, Math.min(timeoutMs, maxWaitMs) - this.#spentMs)
    return promised(() => ask({ signal, maxWaitMs: leftMs })).then(
      (token) => {
        end()
        // The process may have stalled beyond the request's own timeout.
        if (this.#spentMs > timeoutMs) throw timeoutError(this.#config)
        return use(token)
      },
      (error: unknown) => {
        end()
        if (!isTokenError(error)) throw error
        throw timeoutMs < maxWaitMs && error.code === 'ERR_WAIT_TIMEOUT'
          ? timeoutError(this.#config)
          : ofRequest(error, this.#config)
      },
    )
  }
}

/** The request's own `signal`, or one that ends with its `cancelToken` too. */
function cancellation({ signal, cancelToken }: InternalAxiosRequestConfig): Cancellation {
  if (!signal && !cancelToken) return NEVER
  // axios takes anything that resembles a signal.
  const own = signal && 'throwIfAborted' in signal ? (signal as AbortSignal) : undefined
  const alike = own ? undefined : signal
  if (!cancelToken && !alike) return { signal: own }
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

interface Cancellation {
  readonly signal?: AbortSignal | undefined
  readonly forget?: () => void
}
const NEVER: Cancellation = {}

/** The error that axios itself would give. */
function timeoutError(config: InternalAxiosRequestConfig): AxiosError {
  // As axios: an empty one counts as none.
  // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing
  const message = config.timeoutErrorMessage || `timeout of ${config.timeout}ms exceeded`
  const code = config.transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
  return new AxiosError(message, code, config)
}
