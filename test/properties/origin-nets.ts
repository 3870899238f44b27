import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { AxiosRequestConfig } from 'axios'
import type { Answer } from './origin-course.ts'

/** Where requests arrive. */
export interface Net {
  /** The origins of the two managers. */
  readonly homes: readonly [string, string]
  /** Origins that must receive no token. */
  readonly others: readonly string[]
  readonly config: AxiosRequestConfig
  /** Returns the response for the request with this path. */
  answer: (path: string) => Answer
  /** Called with everything that a request sends. */
  hear: (origin: string, text: string) => void
  close(): Promise<void>
}

type Handlers = Pick<Net, 'answer' | 'hear'>
const handlers = (): Handlers => ({ answer: () => ({ status: 200 }), hear: () => undefined })

const headOf = ({ status, location }: Answer) =>
  `HTTP/1.1 ${status} X\r\nConnection: close\r\nContent-Length: 2\r\n${location === undefined ? '' : `Location: ${location}\r\n`}\r\n{}`

/** A network in memory, for the http adapter: any name resolves, and it sees the target of each connection. */
export function memoryNet(): Net {
  const on = handlers()
  const connect = (protocol: string) => (options: { host?: string; port?: number }) =>
    new MemorySocket(originOf(protocol, options), on)
  const [httpAgent, httpsAgent] = [new http.Agent(), new https.Agent()]
  Object.assign(httpAgent, { createConnection: connect('http') })
  Object.assign(httpsAgent, { createConnection: connect('https') })
  return Object.assign(on, {
    homes: ['http://api.example.com', 'https://bank.example.org'] as const,
    others: [
      ...['http://sub.api.example.com', 'http://api.example.com:8080', 'https://api.example.com', 'http://evil.test'],
      ...['http://api.example.com.evil.test', 'https://evil.test', 'http://bank.example.org', 'http://example.com'],
    ],
    config: { adapter: 'http', httpAgent, httpsAgent, proxy: false } as AxiosRequestConfig,
    close: async () => undefined,
  })
}

function originOf(protocol: string, { host = '', port }: { host?: string; port?: number }): string {
  try {
    return new URL(`${protocol}://${host.includes(':') ? `[${host}]` : host}:${port}`).origin
  } catch {
    return `no origin: ${host}`
  }
}

class MemorySocket extends Duplex {
  readonly #origin: string
  readonly #on: Handlers
  #text = ''

  constructor(origin: string, on: Handlers) {
    super()
    this.#origin = origin
    this.#on = on
  }

  override _read(): void {
    // It has been pushed already.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    const isWhole = this.#text.includes('\r\n\r\n')
    this.#text += chunk.toString('latin1')
    this.#on.hear(this.#origin, this.#text)
    if (!isWhole && this.#text.includes('\r\n\r\n')) setImmediate(() => this.#answer())
    done()
  }

  #answer(): void {
    const answer = this.#on.answer(this.#text.split(' ', 2)[1] ?? '')
    this.push(headOf(answer).slice(0, answer.cut?.at))
    if (answer.cut?.how === 'reset') this.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }))
    else this.once('end', () => this.destroy()).push(null)
  }

  setKeepAlive = () => this
  setNoDelay = () => this
  setTimeout = () => this
  ref = () => this
  unref = () => this
}

/** Real servers on loopback: two homes and another one. `version` 2 is only for the http adapter of axios. */
export async function loopbackNet(adapter: 'http' | 'fetch', version: 1 | 2 = 1): Promise<Net> {
  const on = handlers()
  const servers = [0, 1, 2].map(() => (version === 1 ? overHttp1(on) : overHttp2(on)))
  const ports = await Promise.all(servers.map(({ listening }) => listening))
  const [one, two, other] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string, string]
  return Object.assign(on, {
    homes: [one, two] as const,
    others: [other, ...ports.map((port) => `http://localhost:${port}`)],
    config: { adapter, proxy: false, ...(version === 2 && { httpVersion: 2 }) } as AxiosRequestConfig,
    async close() {
      await Promise.all(servers.map((server) => server.close()))
    },
  })
}

function overHttp1(on: Handlers) {
  const server = http.createServer((request, response) => {
    const { url = '', headers, rawHeaders } = request
    const hear = (text: string) => on.hear(`http://${headers.host}`, text)
    hear([url, ...rawHeaders].join('\n'))
    request.on('data', (chunk) => hear(String(chunk)))
    // Not at the end of the body: a shared `Content-Length` may announce one that never arrives.
    const answer = on.answer(url)
    const socket = response.socket!
    socket.write(headOf(answer).slice(0, answer.cut?.at))
    if (answer.cut?.how === 'reset') socket.resetAndDestroy()
    else socket.end()
  })
  return listeningOn(server)
}

function overHttp2(on: Handlers) {
  const server = http2.createServer((request, response) => {
    const { url, headers } = request
    request.resume()
    on.hear(`http://${headers[':authority']}`, [url, JSON.stringify(headers)].join('\n'))
    const { status, location, cut } = on.answer(url)
    if (cut) {
      response.stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
      return
    }
    response.writeHead(status, location === undefined ? {} : { location })
    response.end('{}')
  })
  return listeningOn(server)
}

function listeningOn(server: http.Server | http2.Http2Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  return {
    listening: once(server, 'listening').then(() => (server.address() as AddressInfo).port),
    close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      return closed
    },
  }
}
