import { type Clock, TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import type { End, Person } from './login-course.ts'
import { type LoginLayer, person, session } from '../../src/login/index.ts'

export const ACCESS_MS = 60_000

/** One login of a user at the service. Its refresh token rotates; the whole session ends if a used one is presented again. */
interface Session {
  readonly who: Person
  /** Which user this is: a named user is always the same one. */
  readonly login: string
  refreshToken: string | undefined
  readonly accessTokens: Set<string>
  /** The service has responded with an unknown error: the login may be abandoned. */
  isUnclear?: true
}

/** A service of several users, and the API that accepts their tokens. */
export class LoginService implements TokenSource {
  readonly id = 'two-logins'
  readonly login: LoginLayer = person
  script: { ends: End; takesMs: number }[] = []
  readonly refused = new Set<string>()
  readonly #sessions: Session[] = []
  readonly #byRefreshToken = new Map<string, Session>()
  #issued = 0

  obtain: TokenSource['obtain'] = () => Promise.reject(new Error('a login is never obtained'))

  /** @returns How a token request ends, when its time has passed. */
  protected async next(clock: Clock): Promise<End> {
    const { ends, takesMs } = this.script.shift() ?? { ends: 'accepted', takesMs: 0 }
    if (takesMs > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, takesMs))
    return ends
  }

  async refresh(refreshToken: string, { clock }: { clock: Clock }): Promise<TokenGrant> {
    const ends = await this.next(clock)
    const session = this.#byRefreshToken.get(refreshToken)
    if (ends === 'unknown word' && session) session.isUnclear = true
    if (ends === 'unknown word') throw new TokenError('ERR_TOKEN_REQUEST', '400', { outcome: 'rejected', status: 400 })
    if (ends === 'refused' && session) session.refreshToken = undefined
    const acts = ends === 'accepted' || ends === 'refused' || ends.endsWith('after')
    const granted = acts ? this.#refreshed(session, refreshToken) : undefined
    if (granted && ends === 'accepted') return granted
    throw failureOf(ends)
  }

  async revoke({ refreshToken = '' }): Promise<void> {
    const session = this.#byRefreshToken.get(refreshToken)
    if (session) session.refreshToken = undefined
  }

  /** A user logs in. */
  logIn(who: Person, brings = 'both'): TokenGrant & { refreshToken: string } {
    const login = who === 'carol' ? `carol ${this.#sessions.length}` : who
    const session: Session = { who, login, refreshToken: undefined, accessTokens: new Set() }
    this.#sessions.push(session)
    const grant = this.#issue(session)
    // No manager has it.
    if (brings === 'access') session.refreshToken = undefined
    return grant
  }

  /** @returns The login to which an access token belongs. */
  loginOf(accessToken: string): string | undefined {
    return this.#sessions.find(({ accessTokens }) => accessTokens.has(accessToken))?.login
  }

  /** Whether the last session of a login can be refreshed, as far as its manager can know. */
  keeps(login: string): boolean {
    const session = this.#sessions.findLast((one) => one.login === login)
    return session?.refreshToken !== undefined && session.isUnclear !== true
  }

  #refreshed(session: Session | undefined, refreshToken: string): TokenGrant {
    if (session?.refreshToken === refreshToken) return this.#issue(session)
    if (session) session.refreshToken = undefined
    throw new TokenError('ERR_REFRESH_REJECTED', '400', { outcome: 'rejected', refreshToken: 'refused', status: 400 })
  }

  #issue(session: Session): TokenGrant & { refreshToken: string } {
    this.#issued += 1
    const [accessToken, refreshToken] = [`access-${this.#issued}`, `refresh-${this.#issued}`]
    session.accessTokens.add(accessToken)
    session.refreshToken = refreshToken
    this.#byRefreshToken.set(refreshToken, session)
    const subject = session.who !== 'carol' && { subject: session.who }
    return { accessToken, accessLifetimeMs: ACCESS_MS, refreshToken, refreshLifetimeMs: 3_600_000, ...subject }
  }
}

/** The holder of a session cookie gets tokens. */
export class SessionService extends LoginService {
  override readonly login = session
  /** What a login returns from now on. */
  cookie: Parameters<LoginService['logIn']> | undefined

  override obtain: TokenSource['obtain'] = async ({ clock }) => {
    const ends = await this.next(clock)
    if (ends === 'refused') this.cookie = undefined
    if (ends !== 'accepted' && ends !== 'refused') throw failureOf(ends)
    if (!this.cookie)
      throw new TokenError('ERR_CREDENTIALS_REJECTED', 'no session', { outcome: 'rejected', status: 401 })
    const { refreshToken, refreshLifetimeMs, ...access } = this.logIn(...this.cookie)
    return this.cookie[1] === 'access' ? access : { ...access, refreshToken, refreshLifetimeMs: refreshLifetimeMs! }
  }
}

function failureOf(ends: End): TokenError {
  const isLost = ends.startsWith('lost')
  const kept = ends.startsWith('503') && ({ refreshToken: 'kept' } as const)
  const details = { outcome: isLost ? 'unknown' : 'unknown-5xx', ...kept } as const
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', ends, details)
}
