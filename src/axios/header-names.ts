/** Both functions take the name in lower case, and find a header in any case. */

export function hasHeader(headers: object, name: string): boolean {
  // Unlike Object.keys, this makes no list.
  for (const key in headers)
    if (isNamed(key, name) && Object.hasOwn(headers, key) && Reflect.get(headers, key) !== undefined) return true
  return false
}

export function deleteHeader(headers: object, name: string): void {
  for (const key in headers) if (isNamed(key, name)) Reflect.deleteProperty(headers, key)
}

/** Compares the lengths first, because most names differ in it and need no lower case. */
const isNamed = (key: string, name: string) => key.length === name.length && key.toLowerCase() === name
