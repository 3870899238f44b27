import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach } from '@jest/globals'

/** One received request. */
export interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Names and values alternately, in their original spelling. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

export interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
}

/** @param index The number of earlier requests. */
export type Script = (request: Received, index: number) => Answer | Promise<Answer>

export interface ApiServer {
  /** `http://127.0.0.1:<port>`, which is also its origin; empty for a server on a socket path. */
  readonly baseUrl: string
  readonly port: number
  /** Every request, oldest first. */
  readonly received: readonly Received[]
  /** The `Authorization` of every request, oldest first. */
  readonly bearers: readonly (string | undefined)[]
  /** Number of responses that are neither sent completely nor cut off, because the client does not read them and keeps the connection. */
  readonly unread: number
}

const opened: { server: Server; sockets: Set<Socket> }[] = []

/** An HTTP server on loopback that responds as `script` says (default: 200), and is closed when the test ends. */
export async function startApi(script: Script = () => ({}), where: number | string = 0): Promise<ApiServer> {
  const received: Received[] = []
  const sockets = new Set<Socket>()
  let unread = 0
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void bodyOf(request).then(async (body) => {
      const { method = '', url = '', headers, rawHeaders } = request
      const index = received.push({ method, url, headers, rawHeaders, body }) - 1
      unread += 1
      response.once('close', () => (unread -= 1))
      const answer = await script(received[index]!, index)
      response.writeHead(answer.status ?? 200, { 'Content-Type': 'application/json', ...answer.headers })
      response.end(answer.body ?? '{"ok":true}')
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  opened.push({ server, sockets })
  if (typeof where === 'string') server.listen(where)
  else server.listen(where, '127.0.0.1')
  await once(server, 'listening')
  const port = typeof where === 'string' ? 0 : (server.address() as AddressInfo).port
  return {
    baseUrl: port === 0 ? '' : `http://127.0.0.1:${port}`,
    port,
    received,
    get bearers() {
      return received.map(({ headers }) => headers.authorization)
    },
    get unread() {
      return unread
    },
  }
}

afterEach(async () => {
  for (const { server, sockets } of opened.splice(0)) {
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }
})

/** Rejects these tokens with 401, as an API does after they were revoked. */
export function rejecting(...tokens: string[]): Script {
  return ({ headers }) => (tokens.some((token) => headers.authorization?.endsWith(` ${token}`)) ? rejection : {})
}

/** A typical 401 of an API. */
export const rejection: Answer = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' }, body: '{"error":"refused"}' }

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  // In some tests the client breaks off. The bytes that it has sent count.
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
