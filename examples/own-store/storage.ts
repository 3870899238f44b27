import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** Plays the part of your storage: objects by path, with conditional writes. */
export async function startStorage() {
  const objects = new Map<string, string>()
  const tagOf = (path: string) => {
    const object = objects.get(path)
    return object === undefined ? undefined : `"${createHash('sha256').update(object).digest('hex')}"`
  }
  const server = createServer(async (request, response) => {
    const { url: path = '', method, headers } = request
    const body = await text(request)
    const tag = tagOf(path)
    if (method === 'GET') return response.writeHead(tag ? 200 : 404, tag ? { ETag: tag } : {}).end(objects.get(path))
    const isAsExpected = headers['if-none-match'] === '*' ? tag === undefined : tag === headers['if-match']
    if (isAsExpected) objects.set(path, body)
    return response.writeHead(isAsExpected ? 200 : 412).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
