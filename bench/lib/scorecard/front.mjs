import { once } from 'node:events'
import { createServer, request } from 'node:http'

/** A proxy in front of an API. It delays each response by `?late=` ms, and collects all tokens that were sent. */
export async function startFront(baseUrl) {
  const tokens = new Set()
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming
    const token = /^Bearer (.+)/.exec(headers.authorization)?.[1]
    if (token) tokens.add(token)
    const lateMs = Number(new URL(url, baseUrl).searchParams.get('late') ?? 0)
    const onward = request(new URL(url, baseUrl), { method, headers }, (answer) => {
      setTimeout(() => {
        outgoing.writeHead(answer.statusCode, answer.headers)
        answer.pipe(outgoing)
      }, lateMs)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { url: `http://127.0.0.1:${server.address().port}`, tokens: () => [...tokens], close: () => closed(server) }
}

export function closed(server) {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(resolve))
}
