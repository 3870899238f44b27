import { tagOf } from '../client/bodies.ts'
import { pageUrl } from '../client/origins.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { member } from '../core/thrown.ts'

/** A Request, or an address as text. A Request may come from another realm, or from another implementation of fetch. */
export type Input = string | Request
export type Init = RequestInit & { readonly keepalive?: boolean; readonly mode?: string }
/** fetch accepts null instead of `init`. */
export type Given = Init | null | undefined

/**
 * @param given The first argument of fetch, which stringifies every object that is not a Request. A Request is recognised by its shape, because undici
 * has a class of its own, and a Request stringifies to `[object …]`.
 */
export function inputOf(given: unknown): Input {
  if (typeof given === 'string') return given
  const text = String(given)
  return text.startsWith('[object ') && typeof member(given, 'url') === 'string' ? (given as Request) : text
}

/** A member of the call: `init` takes precedence, but members of `Object.prototype` do not count. */
export function memberOfCall<Name extends keyof Init & keyof Request>(
  input: Input,
  init: Given,
  name: Name,
): Init[Name] | undefined {
  const own = init?.[name]
  if (own !== undefined && (!(name in Object.prototype) || member(init, name) !== undefined)) return own
  return typeof input === 'string' ? undefined : input[name]
}

/** @returns The URL of the call; undefined if it is invalid. */
export function urlOf(input: Input): URL | undefined {
  return parsedUrl(typeof input === 'string' ? input : input.url, pageUrl())
}

/** Whether the request can carry the header: the platform drops it silently in `no-cors`, and builds navigation requests itself. */
export function takesHeaders(input: Input, init: Given): boolean {
  const mode = memberOfCall(input, init, 'mode')
  return mode !== 'no-cors' && mode !== 'navigate'
}

/** @returns The header of the call, null if it has none. @param name In lower case. @param init Its headers are not a list. */
export function headerIn(input: Input, init: Given, name: string): string | null {
  const given = memberOfCall(input, init, 'headers')
  if (given === undefined) return null
  if (!isRecord(given)) return (given as Headers).get(name)
  // Unlike Object.keys, this allocates no array.
  for (const key in given) if (isNamed(key, name) && Object.hasOwn(given, key)) return String(given[key])
  return null
}

export const isNamed = (key: string, name: string) => key.length === name.length && key.toLowerCase() === name

/** @returns `init`, or a copy if its headers are a list, because some iterables can be read only once. */
export function withLastingHeaders(init: Given): Given {
  const headers = memberOfCall('', init, 'headers')
  if (headers === undefined || isRecord(headers) || tagOf(headers) === 'Headers') return init
  return Object.assign(membersOf(init), { headers: new Headers(headers) })
}

/** @returns An object with all members of `init`, including those of its class. It has no prototype, because fetch also reads inherited members. */
export function membersOf(given: Given): Init {
  const init = given ?? {}
  const members = Object.assign(Object.create(null) as Record<PropertyKey, unknown>, init)
  if (isPlain(init)) return members
  for (let link = parentOf(init); link && parentOf(link); link = parentOf(link))
    for (const name of Reflect.ownKeys(link)) if (!Object.hasOwn(members, name)) members[name] = Reflect.get(init, name)
  return members
}

/** Whether the headers are a plain object: not `Headers`, and not a list of pairs. */
export function isRecord(headers: object): headers is Record<string, string> {
  return isPlain(headers) && !(Symbol.iterator in headers)
}

/** Whether the value is not an instance of a class. */
function isPlain(value: object): boolean {
  const parent = parentOf(value)
  return parent === Object.prototype || parent === null
}

const parentOf = (value: object) => Object.getPrototypeOf(value) as object | null
