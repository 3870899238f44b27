import type { InternalAxiosRequestConfig } from 'axios'
import { copyOfBody } from '../client/bodies.ts'
import { memberOf } from './member-of.ts'
import { ownAxios } from './own-axios.ts'

/** What the adapter is to use in place of what the caller may change after the call. */
export type Serializer = NonNullable<InternalAxiosRequestConfig['paramsSerializer']>

/**
 * Takes what the caller may change after the call, as axios does: its adapters read the data, the headers and the params in the turn of the call.
 * A request may wait for its token, be signed, or be sent again. Text, and a body that nobody can change, are not copied.
 *
 * @returns What gives the query of this moment, whatever becomes of the params. Undefined without params.
 */
export function snapshotConfig(config: InternalAxiosRequestConfig): Serializer | undefined {
  const { headers } = config
  // Interceptors may share an object of headers between requests. Not by its constructor, which would normalise each name.
  config.headers = Object.assign(Object.create(Object.getPrototypeOf(headers) as object) as typeof headers, headers)
  config.data = copyOfBody(config.data)
  const params: unknown = memberOf(config, 'params')
  if (!canChange(params)) return undefined
  const paramsSerializer = memberOf(config, 'paramsSerializer')
  try {
    // With a question mark, if there is a query. axios 1.18 takes no params without a url.
    const query = ownAxios()
      .getUri({ url: '', params, ...(paramsSerializer && { paramsSerializer }) })
      .slice(1)
    return { serialize: () => query }
  } catch {
    return undefined // the adapter says what is wrong with them
  }
}

/** axios has copied a plain object of params, but none of the objects in it. */
function canChange(params: unknown): boolean {
  if (typeof params !== 'object' || params === null) return false
  const isPlain = Object.getPrototypeOf(params) === Object.prototype
  return !isPlain || Object.values(params).some((value) => typeof value === 'object' && value !== null)
}
