import { once } from 'node:events'
import { createServer } from 'node:http'
import { closed } from './front.mjs'

/** A server that should get no token. `received()` returns all header values that it got. */
export async function startOther() {
  const values = []
  const server = createServer((request, response) => {
    values.push(...Object.values(request.headers).map(String))
    response.end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    received: () => values,
    close: () => closed(server),
  }
}
