import type { InternalAxiosRequestConfig } from 'axios'
import { type TokenError, toldTo } from '../core/errors.ts'

/**
 * The failure to get a token, told to one request: libraries on the instance tell by `isAxiosError` and `config` which of their requests has
 * ended. Both are hidden, so that nothing prints the request with the error.
 */
export function ofRequest(error: TokenError, config: InternalAxiosRequestConfig): TokenError {
  const told = toldTo(ofRequest, error)
  const members = { isAxiosError: true, config: error.retryable ? config : neverRetried(config) }
  for (const [name, value] of Object.entries(members))
    Object.defineProperty(told, name, { value, enumerable: false, writable: true, configurable: true })
  return told
}

/** axios-retry and retry-axios take an error without a response for one of the network, and ask nobody but themselves. */
function neverRetried(config: InternalAxiosRequestConfig): object {
  const { 'axios-retry': options, raxConfig } = config as { 'axios-retry'?: object; raxConfig?: object }
  const never = { 'axios-retry': { ...options, retryCondition: () => false }, raxConfig: { ...raxConfig, retry: 0 } }
  const copy = { ...config }
  // Hidden: a request that is sent again with this config has its retries back.
  for (const [name, value] of Object.entries(never))
    Object.defineProperty(copy, name, { value, enumerable: false, writable: true, configurable: true })
  return copy
}
