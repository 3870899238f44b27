import { AxiosError, type InternalAxiosRequestConfig } from 'axios'
import { isTokenError } from '../core/errors.ts'
import { memberOf } from './member-of.ts'
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

  forToken(): Promise<string> {
    return this.#for((waiting) => this.#access.get(waiting))
  }

  forAnotherThan(refused: string): Promise<string> {
    return this.#for((waiting) => this.#access.replace(refused, waiting))
  }

  /** An abort makes `ask` reject, with whatever reason: axios turns any rejection of a cancelled request into its own. */
  async #for(ask: (waiting: Parameters<TokenAccess['get']>[0]) => Promise<string>): Promise<string> {
    const { clock, maxWaitMs } = this.#access
    const timeoutMs = Number(memberOf(this.#config, 'timeout')) || Infinity
    const cancelled = cancellation(this.#config)
    const startedAt = clock.monotonicNow()
    try {
      const leftMs = Math.max(0, Math.min(timeoutMs, maxWaitMs) - this.#spentMs)
      const token = await ask({ signal: cancelled.signal, maxWaitMs: leftMs })
      // The process may have stalled beyond the request's own timeout.
      if (clock.monotonicNow() - startedAt > timeoutMs - this.#spentMs) throw timeoutError(this.#config)
      return token
    } catch (error) {
      if (!isTokenError(error)) throw error
      throw timeoutMs < maxWaitMs && error.code === 'ERR_WAIT_TIMEOUT'
        ? timeoutError(this.#config)
        : ofRequest(error, this.#config)
    } finally {
      this.#spentMs += clock.monotonicNow() - startedAt
      cancelled.forget()
    }
  }
}

/** The request's own `signal`, or one that ends with its `cancelToken` too. */
function cancellation({ signal, cancelToken }: InternalAxiosRequestConfig) {
  // axios takes anything that resembles a signal.
  const own = signal && 'throwIfAborted' in signal ? (signal as AbortSignal) : undefined
  const alike = own ? undefined : signal
  if (!cancelToken && !alike) return { signal: own, forget: () => undefined }
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
