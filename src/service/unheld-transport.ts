import { builtinModule } from '../core/runtime.ts'

interface Request {
  on(event: 'socket', listener: (socket: { unref?(): void }) => void): unknown
}
interface Http {
  request(options: { readonly protocol?: string }, onResponse: unknown): Request
}

/**
 * What axios' http adapter sends by, in the place of Node's own modules: a socket that keeps no process alive. Undefined where there are no
 * such modules.
 */
export function unheldTransport(): Http | undefined {
  const http = builtinModule('node:http') as Http | undefined
  const https = builtinModule('node:https') as Http | undefined
  if (!http || !https) return undefined
  return {
    request(options, onResponse) {
      const request = (options.protocol === 'https:' ? https : http).request(options, onResponse)
      request.on('socket', (socket) => socket.unref?.())
      return request
    },
  }
}
