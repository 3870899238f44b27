import { member } from '../core/thrown.ts'

/**
 * Whether a body can be sent a second time. Streams and the objects of the `form-data` package can be read only once: the client would send
 * what is left of them, and an empty body that succeeds is worse than a 401.
 */
export function isReplayable(data: unknown): boolean {
  if (data === undefined || data === null || typeof data !== 'object') return typeof data !== 'function'
  if (ArrayBuffer.isView(data)) return true
  // By tag, not by class: a class of another realm is another class.
  const tag = Object.prototype.toString.call(data).slice(8, -1)
  if (tag === 'FormData') return !('pipe' in data)
  return ['ArrayBuffer', 'Blob', 'File', 'URLSearchParams'].includes(tag)
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
