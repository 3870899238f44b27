/** Headers are found by a name in lower case, whatever the case of their own. */

export function hasHeader(headers: object, name: string): boolean {
  for (const key of Object.keys(headers))
    if (isNamed(key, name) && (headers as Record<string, unknown>)[key] !== undefined) return true
  return false
}

export function deleteHeader(headers: object, name: string): void {
  for (const key of Object.keys(headers)) if (isNamed(key, name)) Reflect.deleteProperty(headers, key)
}

/** Most names are told apart by their length: the others alone are made lower case. */
const isNamed = (key: string, name: string) => key.length === name.length && key.toLowerCase() === name
