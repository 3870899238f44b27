import { isReplayable } from '../client/bodies.ts'
import { pageUrl } from '../client/origins.ts'
import { parsedUrl } from '../core/secure-origin.ts'

/** What a caller gave to fetch. Any of it may come from another realm, or from another implementation of fetch. */
export type Input = string | URL | Request
export type Init = RequestInit & { readonly keepalive?: boolean; readonly mode?: string }

/** The Request, if the caller gave one. By its shape, because undici has a class of its own. */
export function requestIn(input: unknown): Request | undefined {
  return typeof input === 'object' && input !== null && typeof Reflect.get(input, 'url') === 'string'
    ? (input as Request)
    : undefined
}

/** A member of the call: `init` has the last word. */
export function memberOfCall<Name extends keyof Init & keyof Request>(
  input: Input,
  init: Init | undefined,
  name: Name,
): Init[Name] | undefined {
  return init?.[name] !== undefined ? init[name] : requestIn(input)?.[name]
}

/** @returns Where the call leads; undefined if that is no URL. */
export function urlOf(input: Input): URL | undefined {
  return parsedUrl(requestIn(input)?.url ?? (input as string | URL).toString(), pageUrl())
}

/** Whether the header can be put on the request: the platform drops it silently without CORS, and builds requests for pages itself. */
export function takesHeaders(input: Input, init: Init | undefined): boolean {
  const mode = memberOfCall(input, init, 'mode')
  return mode !== 'no-cors' && mode !== 'navigate'
}

/** Whether the call has this header already. @param name In lower case. */
export function hasHeader(input: Input, init: Init | undefined, name: string): boolean {
  const given = memberOfCall(input, init, 'headers')
  if (given === undefined) return false
  if (!isPlain(given)) return new Headers(given).has(name)
  return Object.keys(given).some((key) => key.length === name.length && key.toLowerCase() === name)
}

/** @returns The headers of the call, and this one. */
export function headersWith(
  input: Input,
  init: Init | undefined,
  name: string,
  text: string,
): NonNullable<Init['headers']> {
  const given = memberOfCall(input, init, 'headers') ?? {}
  if (isPlain(given)) return { ...(given as Record<string, string>), [name]: text }
  const headers = new Headers(given)
  headers.set(name, text)
  return headers
}

/** @returns An object with all members of `init`, also those of its class. fetch takes null for none. */
export function copyOf(given: Init | null | undefined): Init {
  const init = given ?? {}
  return isPlain(init) ? { ...init } : Object.assign(Object.create(Object.getPrototypeOf(init) as object) as Init, init)
}

/** Not `Headers`, or a list of pairs, or an object of a class. */
function isPlain(value: object): boolean {
  const parent = Object.getPrototypeOf(value) as unknown
  return parent === Object.prototype || parent === null
}

/** Whether the request can be sent again. A page that unloads reads no answer, and what it sends is limited. */
export function isRepeatable(input: Input, init: Init | undefined): boolean {
  return memberOfCall(input, init, 'keepalive') !== true && isReplayable(init?.body)
}

/** @returns What a replay sends: a copy of a Request that has a body, because sending reads the body. */
export function spareOf(input: Input, init: Init | undefined): Input {
  const request = requestIn(input)
  // Some browsers have no member `body`. A body in `init` takes the place of that of the Request.
  if (!request || /^(get|head)$/i.test(request.method) || request.body === null || init?.body != null) return input
  return request.clone()
}
