import { copyOfBody, isReplayable } from '../client/bodies.ts'
import { type Given, type Init, type Input, isNamed, isRecord, memberOfCall, membersOf } from './call.ts'

/**
 * A call as it was made. Where it leads, what it carries, and its replay are read from here only: fetch takes everything from its arguments before
 * it returns, so what the caller does to his objects afterwards must change nothing.
 */
export interface CallSnapshot {
  readonly input: Input
  /** Absolute. */
  readonly url: string
  /** A copy with all members, with headers and a body of its own. */
  readonly init: Init & { readonly headers: Record<string, string> | Headers }
}

/** @param url Where the call leads. */
export function snapshotCall(given: Input, url: string, options: Given): CallSnapshot {
  const input = typeof given === 'string' ? url : given
  const init = membersOf(options)
  const headers = memberOfCall(input, init, 'headers') ?? {}
  init.headers = isRecord(headers) ? textsOf(headers) : new Headers(headers)
  if (typeof init.body === 'object') init.body = copyOfBody(init.body) as NonNullable<Init['body']>
  return { input, url, init: init as CallSnapshot['init'] }
}

/** A value that is no text, such as an array, may change. */
function textsOf(record: Record<string, unknown>): Record<string, string> {
  const texts = { ...record }
  for (const name of Object.keys(texts)) {
    const value = texts[name]
    if (typeof value !== 'string') texts[name] = String(value)
  }
  return texts as Record<string, string>
}

/** Takes a header off the call, in any case. @param name In lower case. */
export function removeHeader({ init: { headers } }: CallSnapshot, name: string): void {
  if (headers instanceof Headers) headers.delete(name)
  else for (const key of Object.keys(headers)) if (isNamed(key, name)) Reflect.deleteProperty(headers, key)
}

/** Puts a header on the call. */
export function setHeader({ init: { headers } }: CallSnapshot, name: string, text: string): void {
  if (headers instanceof Headers) headers.set(name, text)
  else headers[name] = text
}

/** @returns The same once more: the fetch that was called with `init` may still hold it. */
export function copyOfInit(init: CallSnapshot['init']): CallSnapshot['init'] {
  const { headers } = init
  const own = headers instanceof Headers ? new Headers(headers) : { ...(headers as Record<string, string>) }
  return Object.assign(membersOf(init), { headers: own })
}

/** Whether the request can be sent again. A page that unloads reads no answer, and what it sends is limited. */
export function isRepeatable({ input, init }: CallSnapshot): boolean {
  return memberOfCall(input, init, 'keepalive') !== true && isReplayable(init.body)
}

/**
 * @returns A Request of our own, for a request that has to wait. That of the caller counts as used from now on, as after fetch, and keeps no second
 * copy of what is sent.
 */
export function ownInput({ input, init }: CallSnapshot): Input {
  // A body in `init` takes the place of that of the Request, which may be used.
  if (typeof input === 'string' || (input.bodyUsed && init.body != null)) return input
  const own = input.clone()
  if (init.body == null) discard(input.body)
  return own
}

/**
 * @returns What a replay sends: a copy of a Request that has a body, because sending reads the body. Without one a Request of the platform never
 * changes, but for its headers; its polyfills do.
 */
export function replayInputOf({ input, init }: CallSnapshot): Input {
  if (typeof input === 'string') return input
  // Some browsers have no member `body`. A body in `init` takes the place of that of the Request.
  const isBare = /^(get|head)$/i.test(input.method) || input.body === null || init.body != null
  return isBare && !Object.hasOwn(input, 'url') ? input : input.clone()
}

/** An unread body would hold its socket, or its copy. Some implementations of fetch have streams of Node. */
export function discard(body: unknown): void {
  const stream = (body ?? {}) as { cancel?: () => Promise<void>; destroy?: () => void }
  if (typeof stream.cancel === 'function') void stream.cancel().catch(() => undefined)
  else if (typeof stream.destroy === 'function') stream.destroy()
}
