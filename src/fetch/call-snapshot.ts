import { copyOfBody, isReplayable } from '../client/bodies.ts'
import { type Given, type Init, type Input, isNamed, isRecord, memberOfCall, membersOf } from './call.ts'

/**
 * A call of fetch as it was made. Its target, content and replay come from this snapshot only: fetch reads its arguments before it returns, so later
 * changes to the caller's objects must have no effect.
 */
export interface CallSnapshot {
  readonly input: Input
  /** Absolute. */
  readonly url: string
  /** A copy with all members, and with copies of the headers and the body. */
  readonly init: Init & { readonly headers: Record<string, string> | Headers }
}

/** @param url The URL of the call. */
export function snapshotCall(given: Input, url: string, options: Given): CallSnapshot {
  const input = typeof given === 'string' ? url : given
  const init = membersOf(options)
  const headers = memberOfCall(input, init, 'headers') ?? {}
  init.headers = isRecord(headers) ? textsOf(headers) : new Headers(headers)
  if (typeof init.body === 'object') init.body = copyOfBody(init.body) as NonNullable<Init['body']>
  return { input, url, init: init as CallSnapshot['init'] }
}

/** Converts the values to text, because others, such as arrays, may change. */
function textsOf(record: Record<string, unknown>): Record<string, string> {
  const texts = { ...record }
  for (const name of Object.keys(texts)) {
    const value = texts[name]
    if (typeof value !== 'string') texts[name] = String(value)
  }
  return texts as Record<string, string>
}

/** Removes a header from the call, case-insensitively. @param name In lower case. */
export function removeHeader({ init: { headers } }: CallSnapshot, name: string): void {
  if (headers instanceof Headers) headers.delete(name)
  else for (const key of Object.keys(headers)) if (isNamed(key, name)) Reflect.deleteProperty(headers, key)
}

/** Sets a header of the call. */
export function setHeader({ init: { headers } }: CallSnapshot, name: string, text: string): void {
  if (headers instanceof Headers) headers.set(name, text)
  else headers[name] = text
}

/** @returns A copy: the fetch that was called with `init` may still refer to it. */
export function copyOfInit(init: CallSnapshot['init']): CallSnapshot['init'] {
  const { headers } = init
  const own = headers instanceof Headers ? new Headers(headers) : { ...(headers as Record<string, string>) }
  return Object.assign(membersOf(init), { headers: own })
}

/** Whether the request can be sent again. `keepalive` is for a page that unloads: it reads no response, and may send little. */
export function isRepeatable({ input, init }: CallSnapshot): boolean {
  return memberOfCall(input, init, 'keepalive') !== true && isReplayable(init.body)
}

/**
 * @returns A copy of the Request, for a request that must wait. The caller's own Request counts as used from now on, as after fetch, and keeps no second
 * copy of the body.
 */
export function ownInput({ input, init }: CallSnapshot): Input {
  // A body in `init` replaces that of the Request, which may already be used.
  if (typeof input === 'string' || (input.bodyUsed && init.body != null)) return input
  const own = input.clone()
  if (init.body == null) discard(input.body)
  return own
}

/**
 * @returns The input of a replay: a copy of a Request that has a body, because sending reads the body. Without a body, a Request of the platform never
 * changes except for its headers. That of a polyfill may change.
 */
export function replayInputOf({ input, init }: CallSnapshot): Input {
  if (typeof input === 'string') return input
  // In some browsers, a Request has no member `body`. A body in `init` replaces that of the Request.
  const isBare = /^(get|head)$/i.test(input.method) || input.body === null || init.body != null
  return isBare && !Object.hasOwn(input, 'url') ? input : input.clone()
}

/** Discards a body: if unread, it would keep its socket open, or a copy of itself in memory. Some implementations of fetch return streams of Node. */
export function discard(body: unknown): void {
  const stream = (body ?? {}) as { cancel?: () => Promise<void>; destroy?: () => void }
  if (typeof stream.cancel === 'function') void stream.cancel().catch(() => undefined)
  else if (typeof stream.destroy === 'function') stream.destroy()
}
