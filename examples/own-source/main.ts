// A token source of your own: OAuth 2.0 client credentials through openid-client: npm run example own-source
import axios from 'axios'
import { attachBearer, createTokenManager, type TokenError, type TokenSource } from 'axios-evergreen'
import * as oauth from 'openid-client'
import { startOAuthServer } from './oauth-server.ts'

async function oauthClientCredentials(issuer: string, clientId: string, clientSecret: string): Promise<TokenSource> {
  // The server of this example speaks plain http.
  const options = { execute: [oauth.allowInsecureRequests], algorithm: 'oauth2' as const }
  const server = await oauth.discovery(new URL(issuer), clientId, clientSecret, undefined, options)
  return {
    id: `${issuer} ${clientId}`,
    origin: new URL(issuer).origin,
    async obtain({ signal }) {
      // The deadline of the manager ends the call.
      server[oauth.customFetch] = (url, init) => fetch(url, { ...(init as RequestInit), signal })
      // Errors of openid-client need no translation: the manager reads the status and the OAuth 2.0 error.
      const { access_token, expires_in = 60 } = await oauth.clientCredentialsGrant(server)
      return { accessToken: access_token, accessLifetimeMs: expires_in * 1_000 }
    },
  }
}

const server = await startOAuthServer()
const tokens = createTokenManager({ source: await oauthClientCredentials(server.issuer, 'client', 'secret') })
const api = axios.create({ baseURL: server.issuer })
attachBearer(api, tokens)
const answers = await Promise.all(['/a', '/b', '/c'].map((path) => api.get(path)))
console.log(`${answers.map(({ status }) => status).join(' ')}, with ${tokens.status().counts.obtains} token request`)

const stranger = createTokenManager({ source: await oauthClientCredentials(server.issuer, 'client', 'mistyped') })
await stranger.getAccessToken().catch((error: TokenError) => console.log(`${error.code}: ${error.message}`))
await Promise.all([tokens.close(), stranger.close()])
await server.close()
