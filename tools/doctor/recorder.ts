import { type AxiosAdapter, getAdapter } from 'axios'
import { type Proxy, proxyOf } from '../../src/wire/proxy.ts'

/** The response of the service to one request. */
export interface Seen {
  /** Epoch ms of this machine. */
  readonly sentAt: number
  /** When the headers arrived, epoch ms of this machine. */
  readonly receivedAt: number
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The body, as far as it was read. It contains tokens, so it is never printed. */
  text: string
}

/** More than the token source accepts, so the source still rejects a response that is truncated here. */
const MOST_BYTES = 128 * 1_024

/** The responses of the server to token requests and to requests for its metadata. */
export interface Recording {
  readonly calls: Seen[]
  readonly metadata: Seen[]
}

/** The http adapter of axios, which also records each response. @param onProxy Called for each request through a proxy. */
export function recordingAdapter({ calls, metadata }: Recording, onProxy: (proxy: Proxy) => void): AxiosAdapter {
  const send = getAdapter('http')
  return async (config) => {
    const sentAt = Date.now()
    const noteProxy = ({ request }: { request?: unknown }) => {
      const proxy = proxyOf(request, new URL(config.url ?? ''))
      if (proxy) onProxy(proxy)
    }
    const response = await send(config).catch((error: unknown) => {
      noteProxy(error as { request?: unknown })
      throw error
    })
    noteProxy(response)
    const headers = Object.fromEntries(Object.entries(response.headers))
    const seen: Seen = { sentAt, receivedAt: Date.now(), status: response.status, headers, text: '' }
    ;(config.method === 'get' ? metadata : calls).push(seen)
    const bytes = await beginning(response.data as AsyncIterable<Buffer>)
    seen.text = bytes.toString('utf8')
    return { ...response, data: bytes }
  }
}

async function beginning(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MOST_BYTES) break
  }
  return Buffer.concat(chunks)
}
