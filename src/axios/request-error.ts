import { AxiosError, type InternalAxiosRequestConfig } from 'axios'
import { copyForCaller, isTokenError } from '../core/errors.ts'
import { member } from '../core/thrown.ts'

/**
 * Assigns an error to one request. Its `isAxiosError` and `config` tell other libraries on the instance which of their requests failed. Both are not
 * enumerable, so that nothing prints the request with the error.
 */
export function errorForRequest(error: unknown, config: InternalAxiosRequestConfig): Error {
  if (isTokenError(error))
    return marked(copyForCaller(errorForRequest, error), error.retryable ? config : neverRetried(config))
  // An error of axios, or one that already has a request.
  if (member(error, 'config') !== undefined && !OF_OTHERS.has(error as object)) return error as Error
  if (isThrownError(error)) return marked(error, neverRetried(config))
  const wrapped = new AxiosError('A custom token manager or option threw a value that is not an Error')
  return marked(Object.defineProperty(wrapped, 'cause', { value: error }), neverRetried(config))
}

function marked<Thrown extends object>(error: Thrown, config: object): Thrown {
  const own = Object.isExtensible(error) && !OF_OTHERS.has(error) ? error : copyOf(error)
  OF_OTHERS.add(own)
  return withHidden(own, { isAxiosError: true, config })
}
const OF_OTHERS = new WeakSet<object>()

const isThrownError = (error: unknown): error is Error => typeof member(error, 'message') === 'string'

/** A custom manager may reject several requests with one error. */
function copyOf<Thrown extends object>(error: Thrown): Thrown {
  return Object.create(Object.getPrototypeOf(error) as object, Object.getOwnPropertyDescriptors(error)) as Thrown
}

/** axios-retry and retry-axios treat every error without a response as a network error. Only their own options stop them. */
function neverRetried(config: InternalAxiosRequestConfig): object {
  const { 'axios-retry': options, raxConfig } = config as { 'axios-retry'?: object; raxConfig?: object }
  const never = { 'axios-retry': { ...options, retryCondition: () => false }, raxConfig: { ...raxConfig, retry: 0 } }
  // Not enumerable, so that a request that is sent again with this config has its own retry options.
  return withHidden({ ...config }, never)
}

/** @returns `holder` with these members, which nothing prints or copies. */
function withHidden<Holder extends object>(holder: Holder, members: object): Holder {
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(holder, name, { value, enumerable: false, writable: true, configurable: true })
  return holder
}
