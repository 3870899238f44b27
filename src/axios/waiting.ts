import { AxiosError, CanceledError, type InternalAxiosRequestConfig } from 'axios'
import type { RequestLimits } from '../client/bearer-request.ts'

/** @returns The request's own `signal`, or one that its `cancelToken` and body stream can abort, too. */
export function cancellation(config: InternalAxiosRequestConfig): Pick<RequestLimits, 'signal' | 'forget'> {
  const { signal, cancelToken } = config
  const body = streamIn(config)
  // `AbortSignal.any` takes native signals only. It adds no listener to a signal that a thousand requests share.
  const native = signal instanceof AbortSignal ? signal : undefined
  if (!cancelToken && !body && signal === native) return { signal: native }
  const controller = new AbortController()
  // The error of axios has the message of the token.
  const cancel = () => controller.abort()
  // axios accepts anything that resembles a signal. Of a plain object this config has a copy, whose `aborted` never changes.
  const abort = () => controller.abort(new CanceledError(undefined, config))
  const alike = native ? undefined : signal
  // Missing from the types of axios.
  const token = cancelToken as Record<'subscribe' | 'unsubscribe', (listener: () => void) => void> | undefined
  token?.subscribe(cancel)
  alike?.addEventListener?.('abort', abort)
  if (alike?.aborted) abort()
  // axios does the same as soon as it sends the body.
  const onError = (error: unknown) => controller.abort(AxiosError.from(error, undefined, config))
  body?.on('error', onError)
  const onClose = () => controller.abort(new CanceledError('Request stream has been aborted', config))
  body?.on('close', onClose)
  const forget = () => {
    body?.off('close', onClose)
    body?.off('error', onError)
    // An unhandled `error` event ends the process. One listener is enough, however often the body is sent.
    body?.off('error', ignore)
    body?.on('error', ignore)
    token?.unsubscribe(cancel)
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

/** The timeout error of axios, with the error that ended the wait as its cause. */
export function timeoutError(config: InternalAxiosRequestConfig, cause: unknown): AxiosError {
  // As in axios, an empty message counts as none.
  const message =
    // eslint-disable-next-line @typescript-eslint/prefer-nullish-coalescing
    config.timeoutErrorMessage || `timeout of ${config.timeout}ms exceeded: the request waited for a token`
  const code = config.transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
  const error = new AxiosError(message, code, config)
  return Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true })
}
