import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** An OAuth 2.0 server with one client and its API, as small as it can be (RFC 6749, section 4.4; RFC 8414). */
export async function startOAuthServer() {
  let issued = 0
  const server = createServer(async (request, response) => {
    const issuer = `http://${request.headers.host}`
    const body = new URLSearchParams(await text(request))
    const answer = (status: number, what: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(what))
    if (request.url === '/.well-known/oauth-authorization-server')
      return answer(200, { issuer, token_endpoint: `${issuer}/token` })
    if (request.url !== '/token')
      return answer(request.headers.authorization === `Bearer token-${issued}` ? 200 : 401, { path: request.url })
    if (body.get('client_secret') !== 'secret') return answer(401, { error: 'invalid_client' })
    answer(200, { access_token: `token-${++issued}`, token_type: 'bearer', expires_in: 60 })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => new Promise((resolve) => server.close(resolve))
  return { issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}
