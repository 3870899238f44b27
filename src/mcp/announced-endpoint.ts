/** The search ends after this many characters, because the announcement is the first event. */
const MAX_CHARACTERS = 8_192

/**
 * Observes an event stream until its first event, in which the HTTP+SSE transport of MCP announces the address for client messages.
 *
 * @param onEndpoint Called with that address before the client can read the event.
 * @returns The response for the client.
 */
export function observeEndpoint(response: Response, onEndpoint: (address: string) => void): Response {
  if (!response.body || !/^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '')) return response
  const decoder = new TextDecoder()
  let text: string | undefined = ''
  const observer = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      if (text !== undefined) {
        text += decoder.decode(chunk, { stream: true })
        const address = /(?:^|\n)event: ?endpoint\r?\ndata: ?(.*?)\r?\n/.exec(text)?.[1]
        if (address !== undefined) onEndpoint(address)
        if (address !== undefined || text.length > MAX_CHARACTERS || /(?:^|\n)data:.*\r?\n\r?\n/.test(text))
          text = undefined
      }
      controller.enqueue(chunk)
    },
  })
  return new Response(response.body.pipeThrough(observer), response)
}
