import type { Received } from '../axios/support/api-server.ts'

/** What arrived of a request, without what differs between two requests of the same kind: the token, its proof, the names of hosts, boundaries. */
export interface Arrival {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const OF_EACH = ['authorization', 'dpop', 'host', 'connection', 'content-length', 'transfer-encoding']

export function arrivalOf({
  method,
  url,
  headers,
  body,
}: Pick<Received, 'method' | 'url' | 'headers' | 'body'>): Arrival {
  const boundary = /boundary=(.+)/.exec(headers['content-type'] ?? '')?.[1] ?? '\0'
  const known = Object.entries(headers).filter(([name]) => !OF_EACH.includes(name))
  const reported = known.map(([name, value]) => [name, String(value).replaceAll(boundary, 'boundary')] as const)
  return {
    method,
    url,
    headers: Object.fromEntries(reported.sort()),
    body: body.toString('latin1').replaceAll(boundary, 'boundary'),
  }
}
