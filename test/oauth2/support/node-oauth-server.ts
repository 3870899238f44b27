import OAuth2Server, {
  type AuthorizationCode,
  type AuthorizationCodeModel,
  type Client,
  type ClientCredentialsModel,
  type RefreshToken,
  type RefreshTokenModel,
  type Token,
} from '@node-oauth/oauth2-server'
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type RealServer, type RealServerSettings, redeemed } from './real-server.ts'

const REDIRECT = 'https://app.example/callback'
const user = { id: 'somebody' }

type Model = ClientCredentialsModel & AuthorizationCodeModel & RefreshTokenModel

/** @node-oauth/oauth2-server, with a model over maps. The model handles reuse: the second use of a refresh token revokes all tokens. */
export async function startNodeOAuthServer(settings: RealServerSettings): Promise<RealServer> {
  let aheadMs = 0
  let { clientSecret } = settings
  const { graceMs = 0 } = settings
  const client: Client = {
    id: settings.clientId,
    grants: ['client_credentials', 'authorization_code', 'refresh_token'],
    redirectUris: [REDIRECT],
  }
  const codes = new Map<string, AuthorizationCode>()
  const refreshTokens = new Map<string, RefreshToken>()
  const spent = new Map<string, { token: RefreshToken; at: number }>()
  const model: Model = {
    getClient: async (id, secret) => (id === client.id && secret === clientSecret ? client : false),
    getUserFromClient: async () => user,
    getAccessToken: async () => false,
    validateScope: async (_user, _client, scope) => scope ?? [],
    getAuthorizationCode: async (code) => codes.get(code) ?? false,
    saveAuthorizationCode: async (code) => ({ ...code, client, user }),
    revokeAuthorizationCode: async ({ authorizationCode }) => codes.delete(authorizationCode),
    async getRefreshToken(token) {
      const used = spent.get(token)
      const isInGrace = used !== undefined && Date.now() - used.at < graceMs
      if (used && !isInGrace) refreshTokens.clear()
      const found = isInGrace ? used.token : refreshTokens.get(token)
      // The server compares with the time of this machine.
      const endsAt = found?.refreshTokenExpiresAt
      return found
        ? { ...found, ...(endsAt && { refreshTokenExpiresAt: new Date(endsAt.getTime() - aheadMs) }) }
        : false
    },
    async revokeToken(token) {
      const { refreshToken } = token
      if (!spent.has(refreshToken)) spent.set(refreshToken, { token: token, at: Date.now() })
      refreshTokens.delete(refreshToken)
      return true
    },
    async saveToken(token) {
      const saved: Token = { ...token, client, user }
      if (token.refreshToken !== undefined) refreshTokens.set(token.refreshToken, saved as RefreshToken)
      return saved
    },
  }
  const oauth = new OAuth2Server({ model })
  const options = {
    accessTokenLifetime: settings.accessLifetimeS,
    refreshTokenLifetime: settings.refreshLifetimeS,
    alwaysIssueNewRefreshToken: settings.rotates,
  }
  const answered = async (request: IncomingMessage) => {
    const body = Object.fromEntries(new URLSearchParams(await text(request)))
    const { method = '', headers } = request
    const asked = new OAuth2Server.Request({ method, headers: headers as Record<string, string>, query: {}, body })
    const response = new OAuth2Server.Response()
    await oauth.token(asked, response, options).catch((thrown: unknown) => {
      // For a request that is not a form, the server throws without a response.
      const { code, name, message } = thrown as OAuth2Server.OAuthError
      response.status = code
      response.body = { error: name, error_description: message }
    })
    return response
  }
  const server = createServer(async (request, reply) => {
    const response = await answered(request)
    const headers = { ...response.headers, 'Content-Type': 'application/json' }
    reply.writeHead(response.status ?? 200, headers).end(JSON.stringify(response.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const tokenEndpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
  return {
    tokenEndpoint,
    logIn() {
      const code = randomBytes(16).toString('hex')
      const expiresAt = new Date(Date.now() + 60_000)
      codes.set(code, { authorizationCode: code, expiresAt, redirectUri: REDIRECT, client, user })
      return redeemed(tokenEndpoint, { ...settings, clientSecret }, { code, redirect_uri: REDIRECT })
    },
    async changeSecret(secret) {
      clientSecret = secret
    },
    async revokeGrants() {
      refreshTokens.clear()
    },
    async moveClock(ms) {
      aheadMs += ms
    },
    end() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
