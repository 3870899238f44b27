import { type AxiosAdapter, getAdapter } from 'axios'

/** What the service answered to one call. */
export interface Seen {
  /** Epoch ms of this machine. */
  readonly sentAt: number
  /** Epoch ms of this machine, when the headers had come. */
  readonly answeredAt: number
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  /** The body, as far as it was read. Holds tokens: never printed. */
  text: string
}

/** More than the token source accepts, so the source still refuses an answer that is cut here. */
const MOST_BYTES = 128 * 1_024

/** An adapter that sends as axios does in Node, and adds each answer to `seen`. */
export function recordingAdapter(seen: Seen[]): AxiosAdapter {
  const send = getAdapter('http')
  return async (config) => {
    const sentAt = Date.now()
    const response = await send(config)
    const headers = Object.fromEntries(Object.entries(response.headers))
    const answer: Seen = { sentAt, answeredAt: Date.now(), status: response.status, headers, text: '' }
    seen.push(answer)
    const bytes = await beginning(response.data as AsyncIterable<Buffer>)
    answer.text = bytes.toString('utf8')
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
