import { member } from '../core/thrown.ts'

/**
 * Whether a body can be sent a second time. Streams and the objects of the `form-data` package can be read only once: the client would send
 * what is left of them, and an empty body that succeeds is worse than a 401.
 */
export function isReplayable(data: unknown): boolean {
  if (data === undefined || data === null || typeof data !== 'object') return typeof data !== 'function'
  if (ArrayBuffer.isView(data)) return true
  const tag = tagOf(data)
  if (tag === 'FormData') return typeof Reflect.get(data, 'pipe') !== 'function'
  return ['ArrayBuffer', 'Blob', 'File', 'URLSearchParams'].includes(tag)
}

/** @returns A body with the content of this moment, of the same kind. A body that nobody can change, or copy, is returned as it is. */
export function copyOfBody(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !isReplayable(data)) return data
  if (ArrayBuffer.isView(data)) return copyOfBytes(data)
  switch (tagOf(data)) {
    case 'ArrayBuffer':
      return (data as ArrayBuffer).slice(0)
    case 'FormData':
    case 'URLSearchParams':
      return copyOfPairs(data as FormData)
    default:
      return data
  }
}

/** By tag, not by class: a class of another realm is another class. */
export const tagOf = (value: unknown) => Object.prototype.toString.call(value).slice(8, -1)

/** A Buffer stays one, though its own `slice` copies nothing. Other views become bytes. */
function copyOfBytes(view: ArrayBufferView): Uint8Array {
  const { buffer, byteOffset, byteLength } = view
  const bytes = tagOf(view) === 'Uint8Array' ? view : new Uint8Array(buffer, byteOffset, byteLength)
  return Uint8Array.prototype.slice.call(bytes)
}

/** Of the class of the platform that made it, below all that extend that class: a client may know only its own. */
function copyOfPairs(pairs: FormData): FormData {
  let link = pairs
  while (!Object.hasOwn(link, Symbol.toStringTag)) link = Object.getPrototypeOf(link) as FormData
  const copy = new (link.constructor as typeof FormData)()
  for (const [name, value] of pairs) copy.append(name, value)
  return copy
}

/**
 * Whether an error of fetch stands for a 401 to a streamed upload. The fetch of some versions of Node (24.14.0 to 24.15.0, 25.9, 26.0.0) does not
 * show that answer.
 */
export function hidesRefusal(error: unknown): boolean {
  let link = error
  for (let depth = 0; depth < 4; depth += 1) {
    if (member(link, 'message') === 'expected non-null body source') return true
    link = member(link, 'cause')
  }
  return false
}
