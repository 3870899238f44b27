import type { AxiosResponse } from 'axios'

/**
 * Whether a body can be sent a second time. Streams and the objects of the `form-data` package can be read only once: axios
 * would send what is left of them, and an empty body that succeeds is worse than a 401.
 */
export function isReplayable(data: unknown): boolean {
  if (data === undefined || data === null || typeof data !== 'object') return typeof data !== 'function'
  if (ArrayBuffer.isView(data)) return true
  // By tag, not by class: a class of another realm is another class.
  const tag = Object.prototype.toString.call(data).slice(8, -1)
  if (tag === 'FormData') return !('pipe' in data)
  return ['ArrayBuffer', 'Blob', 'File', 'URLSearchParams'].includes(tag)
}

/** Discards the body of a refused answer if it is a stream: an unread stream would hold its socket. */
export function discard({ data, request }: AxiosResponse<unknown>): void {
  if (typeof data !== 'object' || data === null) return
  const stream = data as { destroy?: () => void; cancel?: () => Promise<void> }
  if (typeof stream.cancel === 'function') void stream.cancel().catch(() => undefined)
  if (typeof stream.destroy !== 'function') return
  stream.destroy()
  // axios may have wrapped the stream of the socket. Destroying an unread wrapper does not close the socket.
  ;(request as { destroy?: () => void } | undefined)?.destroy?.()
}
