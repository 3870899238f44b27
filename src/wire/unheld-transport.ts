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
 * Replaces Node's own modules in axios' http adapter, and uses sockets that keep no process alive. Undefined if the runtime
 * has no such modules.
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

/** Whether requests may wait for a socket. A waiting request keeps no process alive by itself, so the socket must do it. */
function mayQueue({ maxSockets, maxTotalSockets }: Agent): boolean {
  return Number.isFinite(maxSockets) || Number.isFinite(maxTotalSockets)
}
