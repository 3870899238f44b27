/** An announcement comes first, so nothing behind this is read. */
const MOST_CHARACTERS = 8_192

/**
 * Reads along in a stream of events until the first one. The transport HTTP+SSE of MCP announces there where its clients send their messages.
 *
 * @param heard Called with that address before anybody can read the event.
 * @returns The answer that the client reads.
 */
export function overheard(response: Response, heard: (address: string) => void): Response {
  if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return response
  const decoder = new TextDecoder()
  let text: string | undefined = ''
  const listening = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (text !== undefined) {
        text += decoder.decode(chunk, { stream: true })
        const address = /(?:^|\n)event: ?endpoint\r?\ndata: ?(.*?)\r?\n/.exec(text)?.[1]
        if (address !== undefined) heard(address)
        if (address !== undefined || text.length > MOST_CHARACTERS || /(?:^|\n)data:.*\r?\n\r?\n/.test(text))
          text = undefined
      }
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(listening), response)
}
