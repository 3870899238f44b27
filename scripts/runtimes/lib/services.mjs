// The server that the checks talk to, in whatever runtime they run. It starts simulated token services, and calls their methods on request.
import { createServer } from 'node:http'
import { startTokenService } from 'axios-evergreen/testing'

/** An MCP server, and its authorization server, as far as one login needs them: an access token `a1`, `a2`, … and a refresh token `r1`, `r2`, … */
function mcpAt(origin) {
  const serverUrl = `${origin}/tools`
  const resources = []
  let [issued, isServed] = [0, false]
  const pair = () => {
    isServed = true
    return { access_token: `a${(issued += 1)}`, refresh_token: `r${issued}`, token_type: 'Bearer', expires_in: 3600 }
  }
  const does = {
    '/first': () => ({ result: pair() }),
    '/expire': () => ({ result: (isServed = false) }),
    '/refreshes': () => ({ result: resources }),
    '/.well-known/oauth-protected-resource/tools': () => ({ resource: serverUrl, authorization_servers: [origin] }),
    '/.well-known/oauth-authorization-server': () => ({
      ...{ issuer: origin, token_endpoint: `${origin}/token`, revocation_endpoint: `${origin}/revoke` },
      token_endpoint_auth_methods_supported: ['none'],
    }),
    '/token': (form) => {
      if (form.get('refresh_token') !== `r${issued}`) return undefined
      resources.push(form.get('resource'))
      return pair()
    },
    '/revoke': () => ({ revoked: (isServed = false) }),
    '/tools': (_, authorization) => (isServed && authorization === `Bearer a${issued}` ? {} : undefined),
  }
  return { serverUrl, issuer: origin, does }
}

/** @returns The origin of a new server, and a function that closes it. */
async function startMcp() {
  let mcp
  const server = createServer(async (request, response) => {
    const form = new URLSearchParams(await textOf(request))
    const answer = mcp.does[request.url]?.(form, request.headers.authorization)
    response.writeHead(answer === undefined ? 401 : 200, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  mcp = mcpAt(`http://127.0.0.1:${server.address().port}`)
  return { ...mcp, close: () => (server.closeAllConnections(), server.close()) }
}

/** @returns `{ origin, close }` */
export async function startServices() {
  const services = []
  const server = createServer(async (request, response) => {
    response.setHeader('Content-Type', 'application/json')
    if (request.url === '/echo') {
      response.end(JSON.stringify({ authorization: request.headers.authorization }))
      return
    }
    const answer = await perform(request).catch((error) => ({ error: String(error) }))
    response.end(JSON.stringify(answer))
  })

  async function perform(request) {
    if (request.url === '/mcp') {
      const mcp = await startMcp()
      services.push(mcp)
      return { result: { serverUrl: mcp.serverUrl, issuer: mcp.issuer } }
    }
    const [, , id, method] = request.url.split('/')
    const given = JSON.parse(await textOf(request))
    if (id !== undefined) return { result: (await services[id][method](...given)) ?? null }
    const service = await startTokenService(given)
    const { baseUrl, client, login, tokenEndpoint } = service
    return { result: { id: services.push(service) - 1, baseUrl, client, login, tokenEndpoint } }
  }

  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await Promise.all(services.map((service) => service.close()))
    },
  }
}

async function textOf(request) {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
