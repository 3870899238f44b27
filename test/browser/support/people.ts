import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { startTokenService } from '../../../tools/testing/index.ts'

/** A site where users log in, in front of a simulated service. The password of each user is `secret`. */
export interface People {
  readonly origin: string
  /** All tokens ever issued. */
  readonly tokens: Iterable<string>
  /** The refresh tokens among them. */
  readonly refreshTokens: ReadonlySet<string>
  /** The users of the successful API requests, in order. */
  readonly served: readonly string[]
  /** How often a refresh token was presented. */
  readonly refreshes: number
  /** How often a session returned a token, including that of a login. */
  readonly obtains: number
  /** The sessions that have not ended. */
  readonly sessions: number
  /** Ends all sessions. */
  endSessions(): void
  /** Makes the API reject all current access tokens. */
  revokeAccess(): void
  close(): Promise<void>
}

/** @param pages A folder with the scripts of the pages. The page `/react` loads `react.js`. */
export async function startPeople(pages: string): Promise<People> {
  const service = await startTokenService({ accessLifetimeMs: 600_000 })
  /** The user of each token. */
  const owners = new Map<string, string>()
  const refreshTokens = new Set<string>()
  const served: string[] = []
  /** The user of each session cookie. */
  const sessions = new Map<string, string>()
  /** The session cookie of each access token. */
  const cookies = new Map<string, string>()
  let obtains = 0

  function issued(name: string, { access_token, refresh_token }: Record<string, unknown>): void {
    owners.set(String(access_token), name).set(String(refresh_token), name)
    refreshTokens.add(String(refresh_token))
  }

  async function logIn(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const name = form.get('name') ?? ''
    if (form.get('password') !== 'secret') {
      send(response, 401, {})
      return
    }
    const { answer } = await service.logIn(name)
    issued(name, answer)
    send(response, 200, answer)
  }

  const cookieOf = ({ headers }: IncomingMessage) => /session=(\w+)/.exec(headers.cookie ?? '')?.[1] ?? ''

  /** A session of a server that keeps the tokens itself: the page gets access tokens only. */
  async function beginSession(form: URLSearchParams, response: ServerResponse): Promise<void> {
    if (form.get('password') !== 'secret') {
      send(response, 401, {})
      return
    }
    const cookie = randomBytes(16).toString('hex')
    sessions.set(cookie, form.get('name') ?? '')
    await answerToken(cookie, response, { 'Set-Cookie': `session=${cookie}; HttpOnly; SameSite=Strict; Path=/` })
  }

  async function answerToken(cookie: string, response: ServerResponse, headers = {}): Promise<void> {
    const name = sessions.get(cookie)
    if (name === undefined) {
      send(response, 401, {})
      return
    }
    const { accessToken, answer } = await service.logIn(name)
    issued(name, answer)
    cookies.set(accessToken, cookie)
    obtains += 1
    send(response, 200, { accessToken, expiresIn: answer.expires_in, subject: name }, headers)
  }

  async function endSession(token: string, response: ServerResponse): Promise<void> {
    sessions.delete(cookies.get(token) ?? '')
    send(response, 204)
  }

  async function refresh(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const answer = await fetch(service.tokenEndpoint, { method: 'POST', body: form })
    const document = (await answer.json()) as Record<string, unknown>
    if (answer.ok) issued(owners.get(form.get('refresh_token') ?? '') ?? 'nobody', document)
    send(response, answer.status, document)
  }

  async function revoke(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const { status } = await fetch(service.revocationEndpoint, { method: 'POST', body: form })
    send(response, status, {})
  }

  async function tellName({ headers: { authorization = '' } }: IncomingMessage, response: ServerResponse) {
    const { ok, status } = await fetch(`${service.baseUrl}/me`, { headers: { authorization } })
    const name = owners.get(authorization.replace('Bearer ', '')) ?? 'nobody'
    if (ok) served.push(name)
    send(response, status, { name })
  }

  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? '', 'http://site')
      const text = await textOf(request)
      const form = new URLSearchParams(text)
      if (pathname === '/login') return logIn(form, response)
      if (pathname === '/session') return beginSession(form, response)
      if (pathname === '/session/token') return answerToken(cookieOf(request), response)
      if (pathname === '/session/end') return endSession(text, response)
      if (pathname === '/oauth/token') return refresh(form, response)
      if (pathname === '/oauth/revoke') return revoke(form, response)
      if (pathname === '/api/me') return tellName(request, response)
      const script = join(pages, pathname)
      const [type, body] =
        pathname.endsWith('.js') && existsSync(script)
          ? ['text/javascript', readFileSync(script, 'utf8')]
          : ['text/html', `<!doctype html><div id="app"></div><script type="module" src="${pathname}.js"></script>`]
      response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(body)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get tokens() {
      return owners.keys()
    },
    refreshTokens,
    served,
    get refreshes() {
      return service.count('refresh')
    },
    get obtains() {
      return obtains
    },
    get sessions() {
      return sessions.size
    },
    endSessions: () => sessions.clear(),
    revokeAccess: () => service.revokeAccessTokens(),
    async close() {
      server.closeAllConnections()
      server.close()
      await service.close()
    },
  }
}

function send(response: ServerResponse, status: number, document?: object, headers = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers })
  response.end(document && JSON.stringify(document))
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}
