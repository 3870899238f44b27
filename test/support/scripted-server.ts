import { createServer, type Socket } from 'node:net'
import type { Reply } from '../../tools/testing/token-document.ts'
import { listening, wire } from '../service/world.ts'

/** One action of the server on a connection, after the previous steps. */
export type Step = (connection: Connection) => unknown

/** A request that was read to its end. */
export interface ReadRequest {
  readonly path: string
  /** Request line and headers, unchanged. */
  readonly head: string
  readonly body: string
}

/** The service behind the server. */
export interface Service {
  /** Called when a whole request has arrived. */
  hear(request: ReadRequest): void
  /** Acts on the request. The effect stays, whether or not the response arrives. */
  commit(request: ReadRequest): Reply
}

export interface ScriptedServer {
  readonly origin: string
  readonly connections: readonly Connection[]
  /** Oldest first, of all connections. */
  readonly requests: readonly ReadRequest[]
  /** From now on each new connection follows one script. The last script is for all later connections. */
  follow(...scripts: Step[][]): void
}

/** A TCP server on loopback, until the test ends. It does only what the script of a connection says. */
export async function serveScripts(scripts: Step[][], service?: Service): Promise<ScriptedServer> {
  const connections: Connection[] = []
  const requests: ReadRequest[] = []
  let coming = scripts
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const connection = new Connection(socket, requests, service)
    connections.push(connection)
    const [script = [], ...others] = coming
    if (others.length > 0) coming = others
    void connection.run(script)
  })
  const origin = `http://${await listening(server)}`
  return { origin, connections, requests, follow: (...next) => void (coming = next) }
}

/** The other side has closed the connection: the script ends here. */
class Gone extends Error {}

export class Connection {
  readonly socket: Socket
  readonly service: Service | undefined
  readonly #requests: ReadRequest[]
  #unread = Buffer.alloc(0)
  #wake: () => void = () => undefined
  /** Whether the other side, or both sides, have closed the connection. */
  isClosed = false
  head = ''
  request: ReadRequest | undefined
  /** The last response of the service. */
  answer: Reply | undefined

  constructor(socket: Socket, requests: ReadRequest[], service: Service | undefined) {
    this.socket = socket
    this.service = service
    this.#requests = requests
    const close = () => {
      this.isClosed = true
      this.#wake()
    }
    socket.on('close', close).on('end', () => {
      close()
      socket.end()
    })
    socket.on('data', (bytes) => {
      this.#unread = Buffer.concat([this.#unread, bytes])
      this.#wake()
    })
  }

  async run(script: readonly Step[]): Promise<void> {
    try {
      for (const step of script) await step(this)
    } catch (error) {
      if (!(error instanceof Gone)) throw error
    }
  }

  /** @param length How many of the received bytes to take; undefined while there are not enough. */
  async take(length: (unread: Buffer) => number | undefined): Promise<string> {
    for (;;) {
      const size = length(this.#unread)
      if (size !== undefined && size <= this.#unread.length) {
        const text = this.#unread.toString('utf8', 0, size)
        this.#unread = this.#unread.subarray(size)
        return text
      }
      if (this.isClosed) throw new Gone()
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  heard(request: ReadRequest): void {
    this.request = request
    this.#requests.push(request)
    this.service?.hear(request)
  }
}

export const readHeaders: Step = async (connection) => {
  connection.head = await connection.take((unread) => {
    const end = unread.indexOf('\r\n\r\n')
    return end < 0 ? undefined : end + 4
  })
}

export const readBody: Step = async (connection) => {
  const { head } = connection
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  const body = await connection.take(() => length)
  connection.heard({ path: head.split(' ')[1]!, head, body })
}

/** The service acts on the request that was read last. */
export const commit: Step = (connection) => {
  connection.answer = connection.service!.commit(connection.request!)
}

/** Sends bytes, and continues when they have left this process. @param bytes Or a function that makes them from the response of `commit`. */
export const send =
  (bytes: string | Buffer | ((answer: Reply) => string | Buffer)): Step =>
  ({ socket, answer }) =>
    new Promise((resolve) => socket.write(typeof bytes === 'function' ? bytes(answer!) : bytes, resolve))

/** Sends the response of `commit` unchanged. */
export const answer = (headers: Record<string, string> = {}): Step =>
  send(({ status, headers: own, body }) => wire(status, body, { ...own, ...headers }))

/** Continues when the test says so. */
export const pause =
  (gate: { readonly opened: Promise<void> }): Step =>
  () =>
    gate.opened

export const FIN: Step = ({ socket }) => void socket.end()
export const RST: Step = ({ socket }) => void socket.resetAndDestroy()

/** Repeats the steps for every request of the connection. */
export const again =
  (...steps: Step[]): Step =>
  async (connection) => {
    while (!connection.isClosed) for (const step of steps) await step(connection)
  }

export const read = [readHeaders, readBody]
/** The normal script: one exchange on one connection. */
export const proper: Step[] = [...read, commit, answer({ Connection: 'close' }), FIN]
