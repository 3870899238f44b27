// @ts-check
// A real MCP server, of the SDK, and a small authorization server: discovery, registration, PKCE, rotation, reuse detection, revocation, step-up.
import { createHash, randomUUID, verify } from 'node:crypto'
import { createServer } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

/**
 * @typedef {{ clientId: string, scope: string, resource: string | null, isDead: boolean, generation: number }} Grant
 * @typedef {{ grant: Grant, generation: number }} Issued
 */

/**
 * An authorization server instead of the small one.
 *
 * @typedef {{ issuer: string, scopeOf: (token: string, resource: string) => Promise<string | undefined> }} Authorization
 */

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** @param {{ oneOrigin?: boolean, path?: string, redirectsFrom?: string, hasSessions?: boolean, authorization?: Authorization }} [options] */
export async function startMcpWorld({
  oneOrigin = false,
  path = '/mcp',
  redirectsFrom,
  hasSessions,
  authorization,
} = {}) {
  /** What the authorization server received in each call: its path or grant, and the header. @type {{ what: string, authorization?: string | undefined, body: URLSearchParams }[]} */
  const calls = []
  /** The requests to the MCP server: `method authorization?`. @type {{ method: string, token: string | undefined, status: number, session: unknown }[]} */
  const requests = []
  const clients = new Map()
  const codes = new Map()
  /** @type {Set<string>} */
  const assertions = new Set()
  /** @type {Map<string, Issued>} */
  const refreshTokens = new Map()
  /** @type {Map<string, Grant & { isOld?: boolean }>} */
  const accessTokens = new Map()
  const counts = { refreshes: 0, reuses: 0, revocations: 0, registrations: 0, codes: 0 }
  const control = {
    /** The statuses of the next token requests, or their statuses and errors. @type {(number | [number, string])[]} */
    failures: [],
    /** Rejects each access token. */
    refusesAll: false,
    lifetimeS: 3600,
    /** What a refresh without exactly the granted scope, or with any scope, is answered. @type {'required' | 'rejected' | undefined} */
    scopes: undefined,
    /** Whether token responses name the scope. */
    namesScope: true,
    authMethods: ['none'],
    /** Whether an address may be the id of a client (CIMD). */
    hasDocuments: false,
    /** @type {(() => void) | undefined} Called when the MCP server rejects a token, before it responds. */
    onRefused: undefined,
    /** @type {(() => void) | undefined} Called when the metadata of the authorization server are requested. */
    onMetadata: undefined,
    /** @type {(() => void) | undefined} Called instead of a refresh, which has no response. */
    beforeRefresh: undefined,
    /** @type {(() => void) | undefined} Called when the MCP server accepts a token. */
    onServed: undefined,
  }

  /** @param {Grant} grant */
  function issue(grant) {
    grant.generation += 1
    const access = randomUUID()
    const refresh = randomUUID()
    accessTokens.set(access, grant)
    refreshTokens.set(refresh, { grant, generation: grant.generation })
    const { scope } = grant
    const named = control.namesScope ? { scope } : {}
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: control.lifetimeS,
      refresh_token: refresh,
      ...named,
    }
  }

  /** @type {(clientId: string, scope: string, form: URLSearchParams) => Grant} */
  const fromTokenResponse = (clientId, scope, form) => ({
    ...{ clientId, scope, resource: form.get('resource'), isDead: false, generation: 0 },
  })

  /** Whose signed assertion it is (RFC 7523). @param {string} assertion */
  function clientIn(assertion) {
    const [head = '', body = '', signature = ''] = assertion.split('.')
    const { sub, aud } = JSON.parse(Buffer.from(body, 'base64url').toString())
    const { key = '' } = clients.get(sub) ?? {}
    const signed = { key, dsaEncoding: /** @type {const} */ ('ieee-p1363') }
    const isGood = verify('SHA256', Buffer.from(`${head}.${body}`), signed, Buffer.from(signature, 'base64url'))
    return isGood && aud === issuer ? sub : ''
  }

  /** @param {URLSearchParams} form @param {string | undefined} authorization @returns {Promise<[number, object]>} */
  async function token(form, authorization) {
    const [status, error = 'temporarily_unavailable'] = [control.failures.shift()].flat()
    if (status !== undefined) return [Number(status), { error }]
    if (form.has('client_assertion')) form.set('client_id', clientIn(form.get('client_assertion') ?? ''))
    const basic = authorization && Buffer.from(authorization.slice(6), 'base64').toString().split(':')
    const clientId = (basic ? basic[0] : form.get('client_id')) ?? ''
    const client = clients.get(clientId) ?? (control.hasDocuments && clientId.startsWith('https://') ? {} : undefined)
    const secret = basic ? basic[1] : form.get('client_secret')
    if (!client || (client.client_secret ?? null) !== (secret ?? null)) return [401, { error: 'invalid_client' }]
    if (form.get('grant_type') === 'authorization_code') {
      const code = codes.get(form.get('code'))
      codes.delete(form.get('code'))
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url')
      if (!code || code.challenge !== proof || code.clientId !== clientId) return [400, { error: 'invalid_grant' }]
      counts.codes += 1
      return [200, issue(fromTokenResponse(clientId, code.scope, form))]
    }
    if (['client_credentials', JWT_BEARER].includes(form.get('grant_type') ?? '')) {
      if (form.get('grant_type') === JWT_BEARER && !assertions.delete(form.get('assertion') ?? ''))
        return [400, { error: 'invalid_grant' }]
      counts.codes += 1
      return [200, { ...issue(fromTokenResponse(clientId, 'read', form)), refresh_token: undefined }]
    }
    counts.refreshes += 1
    const issued = refreshTokens.get(form.get('refresh_token') ?? '')
    if (!issued || issued.grant.clientId !== clientId) return [400, { error: 'invalid_grant' }]
    const { grant, generation } = issued
    if (generation !== grant.generation && !grant.isDead) {
      counts.reuses += 1
      grant.isDead = true
    }
    if (grant.isDead) return [400, { error: 'invalid_grant' }]
    if (form.get('resource') !== grant.resource) return [400, { error: 'invalid_target' }]
    // Microsoft Entra, AADSTS90009
    if (control.scopes === 'required' && form.get('scope') !== grant.scope) return [400, { error: 'invalid_request' }]
    if (control.scopes === 'rejected' && form.has('scope')) return [400, { error: 'invalid_scope' }]
    return [200, issue(grant)]
  }

  /** @type {(req: import('node:http').IncomingMessage) => Promise<string>} */
  const bodyOf = async (req) => {
    let text = ''
    for await (const chunk of req) text += String(chunk)
    return text
  }
  /** @type {(res: import('node:http').ServerResponse, status: number, body: object, headers?: object) => void} */
  const json = (res, status, body, headers = {}) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers })
    res.end(JSON.stringify(body))
  }

  /** @type {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => Promise<boolean>} */
  async function authorize(req, res) {
    const url = new URL(req.url ?? '/', issuer)
    const { authorization } = req.headers
    const body = ['/register', '/token', '/revoke'].includes(url.pathname) ? await bodyOf(req) : ''
    const form = new URLSearchParams(url.pathname === '/register' ? '' : body)
    const told = { ...(authorization !== undefined && { authorization }), body: form }
    switch (url.pathname) {
      case '/.well-known/oauth-authorization-server':
        calls.push({ what: 'metadata', ...told })
        control.onMetadata?.()
        json(res, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          revocation_endpoint: `${issuer}/revoke`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: control.authMethods,
          client_id_metadata_document_supported: control.hasDocuments,
        })
        return true
      case '/register': {
        calls.push({ what: 'register', ...told })
        counts.registrations += 1
        const [method] = control.authMethods
        const client = {
          ...JSON.parse(body),
          client_id: randomUUID(),
          token_endpoint_auth_method: method,
          ...(method !== 'none' && { client_secret: randomUUID() }),
        }
        clients.set(client.client_id, client)
        json(res, 201, client)
        return true
      }
      case '/authorize': {
        const asked = Object.fromEntries(url.searchParams)
        const code = randomUUID()
        codes.set(code, { clientId: asked.client_id, challenge: asked.code_challenge, scope: asked.scope ?? 'read' })
        const back = new URL(asked.redirect_uri ?? '')
        back.searchParams.set('code', code)
        res.writeHead(302, { location: back.href }).end()
        return true
      }
      case '/token': {
        calls.push({ what: form.get('grant_type') ?? '', ...told })
        if (form.has('refresh_token') && control.beforeRefresh) {
          control.beforeRefresh()
          req.socket.destroy()
          return true
        }
        json(res, ...(await token(form, authorization)))
        return true
      }
      case '/revoke': {
        calls.push({ what: 'revoke', ...told })
        const issued = refreshTokens.get(form.get('token') ?? '')
        if (issued) issued.grant.isDead = true
        for (const [access, grant] of accessTokens) if (grant.isDead) accessTokens.delete(access)
        counts.revocations += 1
        json(res, 200, {})
        return true
      }
      default:
        return false
    }
  }

  /** @param {string} token */
  const scopeOf = async (token) =>
    authorization ? authorization.scopeOf(token, `${origin}${path}`) : accessTokens.get(token)?.scope

  function mcpServer() {
    const server = new McpServer({ name: 'world', version: '1.0.0' }, { capabilities: { logging: {} } })
    server.registerTool('whoami', {}, () => ({ content: [{ type: 'text', text: 'you' }] }))
    server.registerTool('admin', {}, () => ({ content: [{ type: 'text', text: 'admin' }] }))
    return server
  }
  /** @type {Map<string, SSEServerTransport>} */
  const sessions = new Map()

  /** @type {Map<string, { transport: StreamableHTTPServerTransport, server: McpServer }>} */
  const streams = new Map()

  /** A session lives in one transport, which keeps the event stream open. @type {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse, body: unknown) => Promise<void>} */
  async function inSession(req, res, body) {
    const id = req.headers['mcp-session-id']
    const known = streams.get(String(id))
    if (known) return known.transport.handleRequest(req, res, body)
    if (id !== undefined) return json(res, 404, {})
    const server = mcpServer()
    /** @type {StreamableHTTPServerTransport} */
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (made) => void streams.set(made, { transport, server }),
    })
    await server.connect(transport)
    await transport.handleRequest(req, res, body)
  }

  /** @type {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => Promise<void>} */
  async function serve(req, res) {
    const url = new URL(req.url ?? '/', origin)
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      calls.push({ what: 'resource', authorization: req.headers.authorization, body: new URLSearchParams() })
      return json(res, 200, {
        resource: redirectsFrom ? origin : `${origin}${path}`,
        authorization_servers: [issuer],
        scopes_supported: ['read'],
      })
    }
    if (oneOrigin && (await authorize(req, res))) return
    if (url.pathname === redirectsFrom) return void res.writeHead(307, { location: path }).end()
    if (![path, '/sse', '/messages'].includes(url.pathname)) return json(res, 404, {})
    const given = req.headers.authorization?.replace(/^Bearer /, '')
    const scope = given === undefined ? undefined : await scopeOf(given)
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource${path}"`
    const text = req.method === 'POST' ? await bodyOf(req) : ''
    const body = text === '' ? undefined : JSON.parse(text)
    const refused = control.refusesAll || scope === undefined
    const lacksScope = body?.params?.name === 'admin' && !scope?.split(' ').includes('admin')
    const status = refused ? 401 : lacksScope ? 403 : 200
    const session = req.headers['mcp-session-id']
    requests.push({ method: `${req.method} ${body?.method ?? ''}`.trim(), token: given, status, session })
    if (refused) control.onRefused?.()
    if (refused) return json(res, 401, {}, { 'www-authenticate': `Bearer ${metadata}` })
    if (lacksScope)
      return json(
        res,
        403,
        {},
        { 'www-authenticate': `Bearer error="insufficient_scope", scope="read admin", ${metadata}` },
      )
    control.onServed?.()
    if (url.pathname === '/sse') {
      const transport = new SSEServerTransport('/messages', res)
      sessions.set(transport.sessionId, transport)
      return mcpServer().connect(transport)
    }
    if (url.pathname === '/messages') {
      const session = sessions.get(url.searchParams.get('sessionId') ?? '')
      return session ? session.handlePostMessage(req, res, body) : json(res, 404, {})
    }
    if (hasSessions) return inSession(req, res, body)
    if (req.method !== 'POST') return json(res, 405, {})
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    await mcpServer().connect(transport)
    await transport.handleRequest(req, res, body)
  }

  /** @type {import('node:http').Server[]} */
  const servers = []
  /** @param {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => Promise<unknown>} handle */
  async function listen(handle) {
    const server = createServer(
      (req, res) => void handle(req, res).catch((error) => json(res, 500, { error: String(error) })),
    )
    servers.push(server)
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
    const address = /** @type {import('node:net').AddressInfo} */ (server.address())
    return `http://127.0.0.1:${address.port}`
  }
  const origin = await listen(serve)
  const issuer = oneOrigin
    ? origin
    : authorization
      ? authorization.issuer
      : await listen(async (req, res) => void ((await authorize(req, res)) || json(res, 404, {})))

  return {
    serverUrl: new URL(redirectsFrom ?? path, origin),
    origin,
    issuer,
    calls,
    requests,
    counts,
    control,
    sessions: streams,
    /** From now on the server rejects the access tokens that it has issued. */
    expireAccess: () => accessTokens.clear(),
    revokeAll() {
      for (const { grant } of refreshTokens.values()) grant.isDead = true
      accessTokens.clear()
    },
    forgetClients: () => clients.clear(),
    /** Registers a client by hand. @param {{ client_id: string, client_secret?: string, key?: string }} client */
    register: (client) => void clients.set(client.client_id, client),
    /** An identity provider has issued this assertion, for one use. @param {string} assertion */
    assert: (assertion) => void assertions.add(assertion),
    /** The user visits the page of a login, and confirms. @param {URL | string} page @returns {Promise<string>} the code */
    async agree(page) {
      const { headers } = await fetch(page, { redirect: 'manual' })
      return new URL(headers.get('location') ?? '').searchParams.get('code') ?? ''
    },
    close: () =>
      Promise.all(
        servers.map((server) => {
          server.closeAllConnections()
          return new Promise((resolve) => server.close(resolve))
        }),
      ),
  }
}
