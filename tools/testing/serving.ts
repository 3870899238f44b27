import type { IncomingMessage, ServerResponse } from 'node:http'
import { CROSS_ORIGIN, preflightAnswer } from './cross-origin.ts'
import { corrupted, type FaultQueue, type MetFault, type RequestKind } from './fault-queue.ts'
import { scriptedRefusal } from './oauth-endpoint.ts'
import { type Route, routeOf } from './routes.ts'
import { type Reply, mediaType, errorReply } from './token-document.ts'

/** The parts that serve the requests of one service. */
export interface Serving {
  readonly latencyMs: number
  readonly faults: Pick<FaultQueue, 'take'>
  /** Receives each request that was served. */
  readonly log: { push(served: Readonly<Served>): unknown }
  /** Headers of every response, by the service's clock. */
  headers(): Record<string, string>
  answerTo(request: IncomingMessage, route: Route, body: string): Reply
}

interface Served {
  at: number
  kind: RequestKind
  method: string
  path: string
  status: number
}

/** Serves one request: reads it, applies its fault, responds, and logs it. */
export async function serve(serving: Serving, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url: path = '' } = request
  const preflight = preflightAnswer(method, request.headers)
  if (preflight) {
    response.writeHead(204, preflight).end()
    return
  }
  const body = await bodyOf(request)
  if (body === 'gone') return
  const route = routeOf(path, body === 'too-large' ? '' : body.text)
  const { kind } = route
  const served = (status: number) => serving.log.push(Object.freeze({ at: Date.now(), kind, method, path, status }))
  const fault = body === 'too-large' ? {} : serving.faults.take(kind)
  if (fault.hang || fault.drop === 'before') {
    served(0)
    if (fault.drop) response.destroy()
    return
  }
  const reply =
    body === 'too-large'
      ? errorReply(413, 'The body is larger than 1 MiB.')
      : (scriptedAnswer(route, fault) ?? serving.answerTo(request, route, body.text))
  if (kind !== 'resource' && serving.latencyMs > 0) await pause(serving.latencyMs, response)
  if (fault.drop === 'after' || response.destroyed) {
    served(0)
    response.destroy()
    return
  }
  served(reply.status)
  const headers = { ...CROSS_ORIGIN, ...serving.headers(), ...reply.headers }
  send(response, { ...reply, headers, body: corrupted(kind, reply.body, fault.corrupt) }, fault)
}

function send(response: ServerResponse, { status, headers, body }: Reply, { corrupt }: MetFault): void {
  const bytes = Buffer.from(body)
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  if (corrupt !== 'truncate') {
    response.end(bytes)
    return
  }
  response.setHeader('Content-Length', bytes.length)
  // Destroyed only after the half was sent: destroying at once would drop the unsent bytes.
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy())
}

/** @returns The response of a `{ status }` fault, with the codes of the specification, section 7; undefined for other faults. */
function scriptedAnswer({ kind, isOAuth }: Route, fault: MetFault): Reply | undefined {
  const { status, headers, body } = fault
  if (status === undefined) return undefined
  if (isOAuth) return scriptedRefusal(kind, status, fault)
  const codes: Record<string, string> = { 'obtain 400': '2006', 'refresh 401': '2007' }
  const code = status === 429 ? 'throttled' : codes[`${kind} ${status}`]
  const usual = status < 400 ? '' : errorReply(status, 'A simulated fault.', code).body
  return { status, headers: { 'Content-Type': mediaType, ...headers }, body: body ?? usual }
}

/** Reads a body over 1 MiB to its end without keeping it, because many clients read no response while they are sending. */
async function bodyOf(request: IncomingMessage): Promise<{ text: string } | 'too-large' | 'gone'> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= 1_048_576) chunks.push(chunk)
    }
  } catch {
    return 'gone'
  }
  return size > 1_048_576 ? 'too-large' : { text: Buffer.concat(chunks).toString() }
}

/** Resolves after `delayMs`, or as soon as the client has gone: a leftover timer would keep the process alive. */
function pause(delayMs: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs)
    response.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
