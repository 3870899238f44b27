import { memberOf } from './member-of.ts'

/** These functions match header names case-insensitively. `headerIn` and `deleteHeader` take the name in lower case. */

/** @returns The value of the header; undefined if there is none. */
export function headerIn(headers: object, name: string): unknown {
  // Unlike Object.keys, this allocates no array.
  for (const key in headers)
    if (isNamed(key, name) && Object.hasOwn(headers, key) && Reflect.get(headers, key) !== undefined)
      return Reflect.get(headers, key)
  return undefined
}

/**
 * @returns A copy of the same class, without these headers. In V8, deleting any member but the last turns an object into a dictionary, which takes
 * four times as long as this copy, and every later access to it takes longer.
 */
export function headersWithout<Headers extends object>(headers: Headers, name: string, other = name): Headers {
  const copy = Object.create(Object.getPrototypeOf(headers) as object) as Record<string, unknown>
  for (const key in headers)
    if (!isNamed(key, name) && !isNamed(key, other) && Object.hasOwn(headers, key)) copy[key] = headers[key]
  return copy as Headers
}

export function deleteHeader(headers: object, name: string): void {
  for (const key in headers) if (isNamed(key, name)) Reflect.deleteProperty(headers, key)
}

/** Whether the header is among the defaults of an instance, for all methods or for one of them. */
export function isDefault(defaults: object, header: string): boolean {
  const name = header.toLowerCase()
  const among = (headers: unknown) =>
    typeof headers === 'object' && headers !== null && headerIn(headers, name) !== undefined
  const headers = memberOf(defaults as { headers?: object }, 'headers')
  return among(headers) || Object.values(headers ?? {}).some(among)
}

/** Compares the lengths first: most names differ in length, and need not be converted. */
const isNamed = (key: string, name: string) => key.length === name.length && key.toLowerCase() === name
