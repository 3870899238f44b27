import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createRawServer, type Server, type Socket } from 'node:net'
import { inspect } from 'node:util'
import { afterEach } from '@jest/globals'
import { AxiosHeaders, getAdapter, type AxiosAdapter, type AxiosResponse, type InternalAxiosRequestConfig } from 'axios'
import { isTokenError, type TokenError } from '../../src/core/errors.ts'
import type { AnomalyKind } from '../../src/core/events.ts'
import { checkedGrant } from '../support/checked-grant.ts'
import type { TokenGrant, TokenSource } from '../../src/core/token-source.ts'
import { clientCredentials } from '../../src/service/client-credentials.ts'
import type { TokenServiceOptions } from '../../src/wire/token-call.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

/** Invented credentials. Neither occurs in anything else that the tests send or receive. */
export const client = { clientId: 'api-key-of-nobody', clientSecret: 'api-secret-of-nobody' }

/** The two adapters of axios for HTTP in Node. */
export const ADAPTERS = ['http', 'fetch'] as const

export const sourceAt = (baseUrl: string | URL, transport: TokenServiceOptions['transport'] = {}): TokenSource =>
  clientCredentials({ ...client, baseUrl, transport })

/** `getAdapter` as axios itself calls it; its types lack the second argument. */
export const named = getAdapter as (name: string, config: unknown) => AxiosAdapter

/** A source whose service is a function, without a socket. */
export const sourceBehind = (adapter: AxiosAdapter): TokenSource => sourceAt('https://tokens.example/api', { adapter })

/** An adapter that gives every request the same response. */
export const answering =
  (data: unknown, status = 200, headers: Record<string, string> = {}): AxiosAdapter =>
  (config) =>
    Promise.resolve(response(config, data, status, headers))

export function response(
  config: InternalAxiosRequestConfig,
  data: unknown,
  status = 200,
  headers: Record<string, string> = {},
): AxiosResponse {
  return { config, data, status, statusText: '', headers: new AxiosHeaders(headers) }
}

/** The JSON text of an obtain response (specification, section 4.1); members are JSON text too, undefined leaves one out. */
export function grantText(attributes: Record<string, string | undefined> = {}, id: string | undefined = '"7"'): string {
  const members = { access: '"issued-token"', expires_in: '3599', token_type: '"Bearer"', ...attributes }
  return `{"data":${objectText({ type: '"auth-token"', id, attributes: objectText(members) })}}`
}

export function objectText(members: Record<string, string | undefined>): string {
  const given = Object.entries(members).filter(([, text]) => text !== undefined)
  return `{${given.map(([name, text]) => `"${name}":${text ?? ''}`).join(',')}}`
}

export interface Obtained {
  readonly grant: Readonly<TokenGrant>
  readonly reports: readonly { kind: AnomalyKind; message: string }[]
}

/** One obtain, with its grant checked as a manager checks it. */
export async function obtain(source: TokenSource, signal = new AbortController().signal): Promise<Obtained> {
  const reports: { kind: AnomalyKind; message: string }[] = []
  const report = (kind: AnomalyKind, message: string) => void reports.push({ kind, message })
  const grant = checkedGrant(await source.obtain({ signal, clock: manualClock(), report }))
  return { grant, reports }
}

/** What `promise` rejects with: a `TokenError` and nothing else. */
export async function failureOf(promise: Promise<unknown>): Promise<TokenError> {
  const [settled] = await Promise.allSettled([promise])
  if (settled.status === 'fulfilled') throw new Error(`resolved with ${inspect(settled.value)}`)
  if (!isTokenError(settled.reason)) throw new Error(`rejected with ${inspect(settled.reason)}`)
  return settled.reason
}

/** What `act` throws: an Error of any kind. */
export function thrownBy(act: () => unknown): Error {
  try {
    act()
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

/** The TypeError or RangeError that `construct` throws. */
export function misuse(construct: () => unknown): Error {
  const thrown = thrownBy(construct)
  if (thrown instanceof TypeError || thrown instanceof RangeError) return thrown
  throw thrown
}

const opened: { server: Server; sockets: Set<Socket> }[] = []

afterEach(async () => {
  await Promise.all(
    opened.splice(0).map(({ server, sockets }) => {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(resolve))
    }),
  )
})

/** Listens on loopback until the test ends. @returns `127.0.0.1:port` */
export async function listening(server: Server): Promise<string> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    // Many tests break connections, and check only the client.
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  })
  opened.push({ server, sockets })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface SeenRequest {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface RecordingServer {
  readonly origin: string
  /** Requests, complete with their bodies, oldest first. */
  readonly seen: SeenRequest[]
  /** How many connections there have been. */
  readonly connections: () => number
}

/** An HTTP server that reads each request completely before it calls `answer`. */
export async function serve(answer: RequestListener): Promise<RecordingServer> {
  const seen: SeenRequest[] = []
  let connections = 0
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const { method, url, headers } = request
        seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('utf8') })
        answer(request, reply)
      })
  })
  server.on('connection', () => (connections += 1))
  return { origin: `http://${await listening(server)}`, seen, connections: () => connections }
}

export interface RawServer {
  readonly origin: string
  /** Complete requests, as text, oldest first. */
  readonly requests: string[]
  /** How many connections the other side has closed. */
  readonly closed: () => number
}

/** A TCP server that calls `act` with the socket whenever it has read a whole request. */
export async function serveRaw(act: (socket: Socket, count: number) => void): Promise<RawServer> {
  const requests: string[] = []
  let closed = 0
  const server = createRawServer({ allowHalfOpen: true }, (socket) => {
    let text = ''
    socket.on('close', () => (closed += 1)).on('end', () => socket.end())
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      const [head = '', body] = text.split('\r\n\r\n')
      const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0)
      if (body === undefined || body.length < length) return
      requests.push(text)
      text = ''
      act(socket, requests.length)
    })
  })
  return { origin: `http://${await listening(server)}`, requests, closed: () => closed }
}

/** A response as bytes on the wire, with the right Content-Length unless `headers` override it. */
export function wire(status: number, body: string | Buffer, headers: Record<string, string | number> = {}): Buffer {
  const sent = { 'Content-Length': Buffer.byteLength(body), ...headers }
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Whatever\r\n${lines.join('')}\r\n`), Buffer.from(body)])
}

/** Waits for turns of the event loop, not for time. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
