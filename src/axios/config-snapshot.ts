import type { InternalAxiosRequestConfig } from 'axios'
import { copyOfBody, tagOf } from '../client/bodies.ts'
import { memberOf } from './member-of.ts'
import { ownAxios } from './own-axios.ts'

/** Serializes the params for the adapter. */
export type Serializer = NonNullable<InternalAxiosRequestConfig['paramsSerializer']>

/**
 * Copies what the caller may change after the call. The adapters of axios read data, headers and params synchronously, but a request with a token may
 * wait, be signed, or be sent again. Text and immutable bodies are not copied.
 *
 * @returns A serializer that always returns the query string as it is now. Undefined if no params can change.
 */
export function snapshotConfig(config: InternalAxiosRequestConfig): Serializer | undefined {
  const { headers } = config
  // Interceptors may share a headers object between requests. The constructor of `AxiosHeaders` would normalise each name.
  config.headers = Object.assign(Object.create(Object.getPrototypeOf(headers) as object) as typeof headers, headers)
  config.data = copyOfBody(config.data)
  const url: unknown = config.url
  // Otherwise the caller could send the request, with its token, to another origin.
  if (typeof url === 'object' && tagOf(url) === 'URL') config.url = new URL(url as URL) as never
  const params: unknown = memberOf(config, 'params')
  if (!canChange(params)) return undefined
  const paramsSerializer = memberOf(config, 'paramsSerializer')
  try {
    // Begins with a question mark if there is a query. axios 1.18 ignores params without a url.
    const query = ownAxios()
      .getUri({ url: '', params, ...(paramsSerializer && { paramsSerializer }) })
      .slice(1)
    return { serialize: () => query }
  } catch {
    return undefined // the adapter throws the error
  }
}

/** axios has copied a plain params object, but none of the objects in it. */
function canChange(params: unknown): boolean {
  if (typeof params !== 'object' || params === null) return false
  const isPlain = Object.getPrototypeOf(params) === Object.prototype
  return !isPlain || Object.values(params).some((value) => typeof value === 'object' && value !== null)
}
