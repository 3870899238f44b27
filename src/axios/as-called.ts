import { Axios, type InternalAxiosRequestConfig } from 'axios'
import { memberOf } from './member-of.ts'

/** What the adapter is to use in place of what the caller may change after the call. */
export type Serializer = NonNullable<InternalAxiosRequestConfig['paramsSerializer']>

/** Serialises by the rule of axios. It has no defaults of its own. */
const serialiser = /* @__PURE__ */ new Axios()

/**
 * Takes what the caller may change after the call, as axios does: its adapters read the data, the headers and the params in the turn of the call.
 * A request may wait for its token, be signed, or be sent again. Text, and a body that nobody can change, are not copied.
 *
 * @returns What gives the query of this moment, whatever becomes of the params. Undefined without params.
 */
export function takeAsCalled(config: InternalAxiosRequestConfig): Serializer | undefined {
  const { headers } = config
  // Interceptors may share an object of headers between requests. Not by its constructor, which would normalise each name.
  config.headers = Object.assign(Object.create(Object.getPrototypeOf(headers) as object) as typeof headers, headers)
  config.data = copyOfBody(config.data)
  const params: unknown = memberOf(config, 'params')
  if (!params) return undefined
  const paramsSerializer = memberOf(config, 'paramsSerializer')
  try {
    const query = serialiser.getUri({ params, ...(paramsSerializer && { paramsSerializer }) }).replace(/^\?/, '')
    return { serialize: () => query }
  } catch {
    return undefined // the adapter says what is wrong with them
  }
}

/** By tag, not by class: a class of another realm is another class. */
const tagOf = (value: object) => Object.prototype.toString.call(value).slice(8, -1)

function copyOfBody(data: unknown): unknown {
  if (typeof data !== 'object' || data === null) return data
  if (ArrayBuffer.isView(data)) return copyOfBytes(data)
  switch (tagOf(data)) {
    case 'ArrayBuffer':
      return (data as ArrayBuffer).slice(0)
    case 'URLSearchParams':
      return new URLSearchParams(data as URLSearchParams)
    case 'FormData':
      // An object of the `form-data` package can be read only once.
      return Symbol.iterator in data ? copyOfForm(data as FormData) : data
    default:
      return data
  }
}

/** A Buffer stays one: axios' http adapter takes no other view. The `slice` of a Buffer itself copies nothing. */
function copyOfBytes(view: ArrayBufferView): Uint8Array {
  const { buffer, byteOffset, byteLength } = view
  return Uint8Array.prototype.slice.call('slice' in view ? view : new Uint8Array(buffer, byteOffset, byteLength))
}

function copyOfForm(form: FormData): FormData {
  // A class of the caller may fill its own. A form of another realm has a class of its own.
  const { constructor } = form
  const copy = form instanceof FormData ? new FormData() : new (constructor as typeof FormData)()
  for (const [name, value] of form) copy.append(name, value)
  return copy
}
