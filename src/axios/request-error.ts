import type { InternalAxiosRequestConfig } from 'axios'
import { type TokenError, toldTo } from '../core/errors.ts'

/**
 * A copy of the error for one request. By its `isAxiosError` and `config`, libraries on the instance know which of their requests has ended.
 * Both are not enumerable, so that nothing prints the request with the error.
 */
export function ofRequest(error: TokenError, config: InternalAxiosRequestConfig): TokenError {
  const told = toldTo(ofRequest, error)
  const members = { isAxiosError: true, config: error.retryable ? config : neverRetried(config) }
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(told, name, { value, enumerable: false, writable: true, configurable: true })
  return told
}

/** axios-retry and retry-axios take every error without a response for a network error. Only their own options stop them. */
function neverRetried(config: InternalAxiosRequestConfig): object {
  const { 'axios-retry': options, raxConfig } = config as { 'axios-retry'?: object; raxConfig?: object }
  const never = { 'axios-retry': { ...options, retryCondition: () => false }, raxConfig: { ...raxConfig, retry: 0 } }
  const copy = { ...config }
  // Not enumerable, so that a request that is sent again with this config has its retries back.
  for (const [name, value] of Object.entries(never))
    Object.defineProperty(copy, name, { value, enumerable: false, writable: true, configurable: true })
  return copy
}
