// An MCP server with a login, on this machine alone. It rotates refresh tokens, and ends a login whose refresh token is presented a second time.
import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

export async function startServer() {
  const [codes, refreshTokens, accessTokens] = [new Map(), new Map(), new Set()]
  const counts = { refreshes: 0, reuses: 0, revocations: 0 }

  function issue(login) {
    const [access_token, refresh_token] = [randomUUID(), randomUUID()]
    accessTokens.add(access_token)
    login.current = refresh_token
    refreshTokens.set(refresh_token, login)
    return [200, { access_token, refresh_token, token_type: 'Bearer', expires_in: 3600 }]
  }

  function token(form) {
    if (form.get('grant_type') === 'authorization_code') {
      const proof = createHash('sha256').update(form.get('code_verifier')).digest('base64url')
      return codes.get(form.get('code')) === proof ? issue({}) : [400, { error: 'invalid_grant' }]
    }
    counts.refreshes += 1
    const login = refreshTokens.get(form.get('refresh_token'))
    if (login?.current === form.get('refresh_token')) return issue(login)
    counts.reuses += 1
    if (login) login.current = undefined
    return [400, { error: 'invalid_grant' }]
  }

  async function serve(request, response) {
    const { pathname, searchParams } = new URL(request.url, origin)
    const body = await text(request)
    const answer = (status, document, headers) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
    switch (pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return answer(200, { resource: `${origin}/mcp`, authorization_servers: [origin] })
      case '/.well-known/oauth-authorization-server': {
        const names = ['authorization_endpoint', 'token_endpoint', 'registration_endpoint', 'revocation_endpoint']
        const places = names.map((name) => [name, `${origin}/${name}`])
        const supports = { response_types_supported: ['code'], code_challenge_methods_supported: ['S256'] }
        return answer(200, { issuer: origin, ...Object.fromEntries(places), ...supports })
      }
      case '/registration_endpoint':
        return answer(201, { ...JSON.parse(body), client_id: randomUUID() })
      case '/authorization_endpoint': {
        // A real server asks the user here.
        const code = randomUUID()
        codes.set(code, searchParams.get('code_challenge'))
        return response.writeHead(302, { location: `${searchParams.get('redirect_uri')}?code=${code}` }).end()
      }
      case '/token_endpoint':
        return answer(...token(new URLSearchParams(body)))
      case '/revocation_endpoint':
        counts.revocations += 1
        accessTokens.clear()
        return answer(200, {})
      case '/mcp': {
        if (!accessTokens.has(request.headers.authorization?.slice(7)))
          return answer(401, {}, { 'www-authenticate': 'Bearer error="invalid_token"' })
        if (request.method !== 'POST') return answer(405, {})
        const server = new McpServer({ name: 'example', version: '1.0.0' })
        server.registerTool('time', {}, () => ({ content: [{ type: 'text', text: 'It is noon.' }] }))
        const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
        await server.connect(transport)
        return transport.handleRequest(request, response, JSON.parse(body))
      }
      default:
        return answer(404, {})
    }
  }

  const server = createServer((request, response) => void serve(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${server.address().port}`
  return {
    url: new URL('/mcp', origin),
    counts,
    expireAccess: () => accessTokens.clear(),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
