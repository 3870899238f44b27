// A backend for a frontend: the server keeps each login in a shared store, and the page has a session cookie.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import axios, { type AxiosInstance } from 'axios'
import {
  attachBearer,
  createTokenManager,
  isLoginRequired,
  isTokenError,
  tokenErrorIn,
  type TokenStore,
} from 'axios-evergreen'
import type { LoginManager } from 'axios-evergreen/login'
import { fromTokenResponse, oauth2 } from 'axios-evergreen/oauth2'

export interface Account {
  readonly tokens: LoginManager
  readonly api: AxiosInstance
}
/** The `Request` of Express extends this. `account` is undefined for a visitor without a session. */
export type AccountRequest = IncomingMessage & { session?: string; account?: Account }
type Next = (error?: unknown) => void

export interface BffOptions {
  readonly store: TokenStore
  readonly api: string
  readonly client: { tokenEndpoint: string; revocationEndpoint: string; clientId: string; clientSecret: string }
}

export function bff({ store, api: baseURL, client }: BffOptions) {
  /** One manager per request. Everything that must outlive the request is in the store. */
  function open(session: string): Account {
    const tokens = createTokenManager({ source: oauth2({ ...client, grant: 'login' }), store, storeKey: session })
    const api = axios.create({ baseURL })
    attachBearer(api, tokens)
    return { tokens, api }
  }

  return {
    /** app.use(withAccount): before the routes. */
    withAccount(request: AccountRequest, response: ServerResponse, next: Next): void {
      const session = /(?:^|;\s*)session=([\w-]{43})(?:;|$)/.exec(request.headers.cookie ?? '')?.[1]
      if (session !== undefined) {
        const account = open(session)
        Object.assign(request, { session, account })
        response.once('close', () => void account.tokens.close())
      }
      next()
    },

    /** Call this with the token response of the provider, after its redirect to your callback. */
    async logIn(response: ServerResponse, tokenResponse: Record<string, unknown>): Promise<void> {
      const session = randomBytes(32).toString('base64url') // a new session for each login prevents session fixation
      const { tokens } = open(session)
      try {
        await tokens.adopt(fromTokenResponse(tokenResponse)) // rejects if the store cannot keep the login
      } finally {
        await tokens.close()
      }
      response.setHeader('Set-Cookie', `session=${session}; Path=/; HttpOnly; Secure; SameSite=Lax`)
    },

    /** @returns Whether the provider has revoked the tokens. */
    async logOut(request: AccountRequest, response: ServerResponse): Promise<boolean> {
      response.setHeader('Set-Cookie', 'session=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax')
      return (await request.account?.tokens.logout())?.revoked ?? false
    },

    /** app.use(answerLogin): after the routes. */
    answerLogin(error: unknown, request: AccountRequest, response: ServerResponse, next: Next): void {
      if (isLoginRequired(error, request.account?.tokens)) response.writeHead(401).end()
      // Another login has replaced the login of this request: the page must show who is logged in, and ask before it sends the request again.
      else if (isTokenError(error, 'ERR_LOGIN_REPLACED')) response.writeHead(409).end()
      // The store or the token service is unavailable. Without this line, Express would respond with 500.
      else if (tokenErrorIn(error)?.retryable) response.writeHead(503).end()
      else next(error)
    },
  }
}
