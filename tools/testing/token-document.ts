import { createHmac } from 'node:crypto'

/** The media type of every request and response of the token endpoints (specification, section 1). */
export const mediaType = 'application/vnd.api+json'

export interface Reply {
  status: number
  headers: Record<string, string>
  body: string
}

export function reply(status: number, document: object, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': mediaType, ...headers }, body: JSON.stringify(document) }
}

/** An error body in the format of JSON:API; the specification shows none (section 7). */
export function errorReply(status: number, detail: string, code?: string, headers?: Record<string, string>): Reply {
  return reply(status, { errors: [{ status: String(status), code, detail }] }, headers)
}

/**
 * Reads `{ data: { type: 'auth-token', attributes } }` (specification, section 4).
 *
 * @returns the attributes that are strings, as all of them must be; none if the document is anything else.
 */
export function readAttributes(body: string): Record<string, string> {
  const data = member(parsed(body), 'data')
  if (member(data, 'type') !== 'auth-token') return {}
  const attributes = Object.entries(member(data, 'attributes') ?? {})
  return Object.fromEntries(attributes.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
}

export function tokenObject(id: string, attributes: object): object {
  return { type: 'auth-token', id, attributes }
}

/** The signature of an obtain response (specification, section 5, item 4): hex HMAC-SHA256 with login + password as key. */
export function signature(key: string, time: string, refresh: string): string {
  return createHmac('sha256', key).update(`${time}${refresh}`).digest('hex')
}

/** @returns e.g. `2020-12-29T05:42:11.925654Z` (specification, section 2.4) for epoch ms with a fraction. */
export function timestamp(at: number): string {
  const micros = Math.min(999, Math.round((at - Math.floor(at)) * 1000))
  return new Date(Math.floor(at)).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}
