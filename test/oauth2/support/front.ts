import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** `acted`: the server behind it has responded, and its response is replaced. */
export type FrontFault = { status: number; headers?: Record<string, string>; acted?: boolean } | 'lose the answer'

/** A proxy between a manager and a token endpoint. It sees all requests, and injects faults. */
export interface Front {
  readonly tokenEndpoint: string
  /** The grant of each request and the status of its response; 0: no response. */
  readonly calls: string[]
  /** The refresh token that was issued last. */
  readonly refreshToken: () => string | undefined
  failNext(fault: FrontFault): void
  /** From now on there is no listener at the address. */
  goDown(): Promise<void>
  comeBack(): Promise<void>
  end(): Promise<void>
}

export async function startFront(behind: string): Promise<Front> {
  const calls: string[] = []
  const faults: FrontFault[] = []
  let refreshToken: string | undefined
  const serve = async (request: IncomingMessage, reply: ServerResponse) => {
    const body = await text(request)
    const grant = new URLSearchParams(body).get('grant_type')
    const fault = faults.shift()
    if (typeof fault === 'object' && !fault.acted) {
      calls.push(`${grant} ${fault.status}`)
      return reply.writeHead(fault.status, fault.headers).end()
    }
    const { authorization } = request.headers
    const headers = { 'Content-Type': String(request.headers['content-type']), ...(authorization && { authorization }) }
    const answer = await fetch(behind, { method: 'POST', headers, body })
    const answered = await answer.text()
    refreshToken = (JSON.parse(answered) as { refresh_token?: string }).refresh_token ?? refreshToken
    calls.push(`${grant} ${typeof fault === 'object' ? fault.status : fault ? 0 : answer.status}`)
    if (typeof fault === 'object') return reply.writeHead(fault.status).end()
    if (fault) return reply.destroy()
    return reply.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(answered)
  }
  const server = createServer((request, reply) => void serve(request, reply).catch(() => reply.destroy()))
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const close = () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    return closed
  }
  return {
    tokenEndpoint: `http://127.0.0.1:${port}/token`,
    calls,
    refreshToken: () => refreshToken,
    failNext: (fault) => void faults.push(fault),
    goDown: close,
    comeBack: () => (server.listening ? Promise.resolve() : listen(port)),
    end: () => (server.listening ? close() : Promise.resolve()),
  }
}
