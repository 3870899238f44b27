import { type ApiServer, startApi } from '../../axios/support/api-server.ts'
import { gate } from '../../axios/support/turns.ts'

export interface HeldAnswers extends ApiServer {
  /** Resolves when the service behind the proxy has responded to such a request, and the response is held. */
  readonly holding: Promise<void>
  /** Releases the response, and all later ones. */
  release(): void
}

/**
 * A proxy before a service that holds the response to the first request of `path`. By then the service has rotated the tokens,
 * and its client does not know.
 */
export async function holdAnswer(baseUrl: string, path: string): Promise<HeldAnswers> {
  const held = gate()
  const asked = gate()
  const server = await startApi(async ({ method, url, headers, body }) => {
    const type = { 'Content-Type': String(headers['content-type']) }
    const answer = await fetch(baseUrl + url, { method, headers: type, body: body as Uint8Array<ArrayBuffer> })
    const text = await answer.text()
    if (url.startsWith(path)) {
      asked.open()
      await held.opened
    }
    return { status: answer.status, headers: { Date: String(answer.headers.get('date')) }, body: text }
  })
  return { ...server, holding: asked.opened, release: () => held.open() }
}
