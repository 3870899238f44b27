import { builtinModule } from '../core/runtime.ts'

interface Agent {
  readonly maxSockets?: number
  readonly maxTotalSockets?: number
}
interface Http {
  readonly globalAgent: Agent
  request(options: { readonly protocol?: string; readonly agent?: Agent }, onResponse: unknown): Request
}
interface Request {
  on(event: 'socket', listener: (socket: { unref?(): void }) => void): unknown
}

/**
 * What axios' http adapter sends by, in the place of Node's own modules: a socket that keeps no process alive. Undefined
 * where there are no such modules.
 */
export function unheldTransport(): Pick<Http, 'request'> | undefined {
  const http = builtinModule('node:http') as Http | undefined
  const https = builtinModule('node:https') as Http | undefined
  if (!http || !https) return undefined
  return {
    request(options, onResponse) {
      const sender = options.protocol === 'https:' ? https : http
      const request = sender.request(options, onResponse)
      if (!mayQueue(options.agent ?? sender.globalAgent)) request.on('socket', (socket) => socket.unref?.())
      return request
    },
  }
}

/** A request that waits for a socket holds no process by itself: the one that has the socket does it for both. */
function mayQueue({ maxSockets, maxTotalSockets }: Agent): boolean {
  return Number.isFinite(maxSockets) || Number.isFinite(maxTotalSockets)
}
