import { AxiosError, type AxiosAdapter } from 'axios'
import { mediaType } from '../../tools/testing/token-document.ts'
import { response } from '../service/world.ts'
import type { ReadRequest } from './scripted-server.ts'
import type { TokenServiceModel } from './token-service-model.ts'

/** What happens to one refresh. Obtains always succeed. */
export type Fate = 'answered' | 'stolen before' | 'lost before the act' | 'lost after the act' | '503 after the act'

/** Token requests reach the service without a socket, so thousands fit into virtual time. @param fate Of each refresh. */
export function adapterTo(
  service: TokenServiceModel,
  wallNow: () => number,
  fate: () => Fate = () => 'answered',
): AxiosAdapter {
  return async (config) => {
    const body = config.data as string
    const head = `POST ${config.url} HTTP/1.1\r\nContent-Type: ${mediaType}\r\n`
    const request: ReadRequest = { path: new URL(config.url!).pathname, head, body }
    const Date = new globalThis.Date(wallNow()).toUTCString()
    const end = request.path.endsWith('/token/refresh/') ? fate() : 'answered'
    service.hear(request)
    // A thief presents the same refresh token first.
    if (end === 'stolen before') service.commit(request)
    if (end === 'lost before the act') throw new AxiosError('lost', 'ECONNRESET', config)
    const answer = service.commit(request)
    if (end === 'lost after the act') throw new AxiosError('lost', 'ECONNRESET', config)
    if (end === '503 after the act') return response(config, '<h1>Sorry</h1>', 503, { Date })
    return response(config, answer.body, answer.status, { Date })
  }
}
