import type { AxiosHeaders } from 'axios'

/** Far more than any token answer needs. */
const MAX_ANSWER_BYTES = 64 * 1_024
/** Adapters do not decode a body of any other encoding, but pass it on. */
const KNOWN_ENCODING = /^(gzip|x-gzip|compress|x-compress|deflate|br|zstd|identity)?$/i

export interface AnswerBody {
  /** Empty if there is a flaw. */
  readonly text: string
  /** Why the answer cannot be read, although it arrived. */
  readonly flaw?: string
}

/**
 * Reads a body as UTF-8, without its byte order mark. Stops after more than 64 KiB, counted decompressed, because not every
 * adapter has a limit. Rejects when the connection breaks.
 */
export async function readBody(data: unknown, headers: AxiosHeaders): Promise<AnswerBody> {
  const bytes = await collected(data)
  if (!bytes) return { text: '', flaw: `larger than ${MAX_ANSWER_BYTES} bytes` }
  const encoding = headers.get('content-encoding') ?? ''
  if (typeof encoding !== 'string' || !KNOWN_ENCODING.test(encoding))
    return { text: '', flaw: 'of an unknown Content-Encoding' }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { text: '', flaw: 'not UTF-8' }
  }
}

/** @returns The bytes; undefined if they are too many. */
async function collected(data: unknown): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunksOf(data)) {
    size += chunk.byteLength
    if (size > MAX_ANSWER_BYTES) return undefined
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** Adapters answer with a stream. Adapters of tests answer with text, or with parsed data. */
async function* chunksOf(data: unknown): AsyncGenerator<Uint8Array> {
  if (data === undefined || data === null) return
  if (data instanceof Uint8Array) yield data
  else if (typeof data === 'string') yield new TextEncoder().encode(data)
  else if (typeof data === 'object' && Symbol.asyncIterator in data) {
    for await (const chunk of data as AsyncIterable<unknown>) yield* chunksOf(chunk)
  } else yield new TextEncoder().encode(JSON.stringify(data))
}
