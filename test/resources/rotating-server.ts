import type { ServerResponse } from 'node:http'
import { serve, type RecordingServer } from '../service/world.ts'

/** How the server answers the next token request. `lost`: it acts, and the response does not arrive. */
export type Fault = 'lost' | 'refused' | { status: number; body: string }

interface Login {
  refreshToken: string
  /** The one before. */
  spent?: string
  isEnded: boolean
}

/** An OAuth 2.0 server on loopback with single-use refresh tokens: presenting a used one ends the login. Access tokens say what they are for. */
export class RotatingServer {
  /** Of each token request: its parameters. */
  readonly requests: URLSearchParams[] = []
  readonly faults: Fault[] = []
  /** Called with each token request before it is answered. */
  onRequest: (body: URLSearchParams) => unknown = () => undefined
  /** Decides about a request instead of the rules below. */
  refuses: (
    body: URLSearchParams,
  ) => { status: number; error?: string | undefined; error_description?: string; claims?: string } | undefined = () =>
    undefined
  lifetimeS = 60
  /** A refresh token may be presented once more, if its answer did not arrive. */
  hasGrace = false
  reuses = 0
  /** The tokens that it was asked to revoke. */
  readonly revoked: string[] = []
  inFlight = 0
  mostInFlight = 0
  padding = ''
  readonly #logins = new Map<string, Login>()
  readonly #live = new Map<string, { login: Login; what: string; user: string }>()
  /** The refresh token that it has issued last. */
  newest = ''
  #n = 0
  #server: RecordingServer | undefined

  async start(): Promise<this> {
    this.#server = await serve((request, reply) => void this.#answer(request.url ?? '', reply))
    return this
  }

  get revocations(): number {
    return this.revoked.length
  }

  get origin(): string {
    return this.#server!.origin
  }

  /** A user logs in. @returns The refresh token. */
  login(user: string): string {
    const login = { refreshToken: `refresh-${user}-${(this.#n += 1)}`, isEnded: false }
    this.#logins.set(login.refreshToken, login)
    this.newest = login.refreshToken
    return login.refreshToken
  }

  /** What an access token is for, and whose it is. Undefined: it was never issued. */
  whatIs(accessToken: string): { what: string; user: string; isEnded: boolean } | undefined {
    const found = this.#live.get(accessToken)
    return found && { what: found.what, user: found.user, isEnded: found.login.isEnded }
  }

  async #answer(url: string, reply: ServerResponse): Promise<void> {
    const body = new URLSearchParams(this.#server!.seen.at(-1)!.body)
    if (url.endsWith('/revoke')) {
      const token = body.get('token') ?? ''
      this.revoked.push(token)
      const login = this.#logins.get(token)
      if (login) login.isEnded = true
      reply.writeHead(200).end()
      return
    }
    this.requests.push(body)
    this.inFlight += 1
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    await this.onRequest(body)
    this.inFlight -= 1
    const fault = this.faults.shift()
    if (typeof fault === 'object') {
      reply.writeHead(fault.status, { 'content-type': 'application/json' }).end(fault.body)
      return
    }
    if (fault === 'refused') {
      reply.destroy()
      return
    }
    const [status, answer] = this.#exchanged(body)
    if (fault === 'lost') reply.destroy()
    else reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #exchanged(body: URLSearchParams): [number, object] {
    const { status, ...refused } = this.refuses(body) ?? {}
    if (status !== undefined) return [status, refused]
    const what =
      [...body.getAll('resource'), body.get('audience'), body.get('scope')].filter(Boolean).join(' ') || 'login'
    if (body.get('grant_type') === 'client_credentials')
      return [200, this.#issued(what, { refreshToken: '', isEnded: false }, 'service')]
    const presented = body.get('refresh_token') ?? ''
    const login = this.#logins.get(presented)
    if (!login || login.isEnded) return [400, { error: 'invalid_grant' }]
    const isRepeat = this.hasGrace && presented === login.spent
    if (login.refreshToken !== presented && !isRepeat) {
      this.reuses += 1
      login.isEnded = true
      return [400, { error: 'invalid_grant' }]
    }
    const user = presented.split('-')[1]!
    login.spent = presented
    login.refreshToken = this.newest = `refresh-${user}-${(this.#n += 1)}`
    this.#logins.set(login.refreshToken, login)
    return [200, { ...this.#issued(what, login, user), refresh_token: login.refreshToken }]
  }

  #issued(what: string, login: Login, user: string): object {
    const access = `access-${user}-${(this.#n += 1)}${this.padding}`
    this.#live.set(access, { login, what, user })
    return { access_token: access, token_type: 'Bearer', expires_in: this.lifetimeS }
  }
}
