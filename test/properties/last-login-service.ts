import { TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import type { Person } from './login-course.ts'

/** One login of a user. */
export interface Session {
  readonly who: Person
  readonly number: number
  /** It has no refresh token, but an access token that outlasts the course. */
  readonly isShort: boolean
}

/** A service whose refresh tokens stay valid until they are revoked: two owners that cannot see each other may both present one. */
export class LastLoginService implements TokenSource {
  readonly id = 'last-login'
  readonly login = person
  readonly #byToken = new Map<string, Session>()
  readonly #revoked = new Set<string>()
  #issued = 0

  obtain: TokenSource['obtain'] = () => Promise.reject(new Error('a login is never obtained'))

  async refresh(refreshToken: string): Promise<TokenGrant> {
    const session = this.#byToken.get(refreshToken)
    if (session && !this.#revoked.has(refreshToken)) return this.#issue(session)
    throw new TokenError('ERR_REFRESH_REJECTED', '400', { outcome: 'rejected', refreshToken: 'refused', status: 400 })
  }

  async revoke({ refreshToken = '' }): Promise<void> {
    this.#revoked.add(refreshToken)
  }

  logIn(who: Person, isShort = false): { session: Session; grant: TokenGrant } {
    const session = { who, number: ++this.#issued, isShort }
    if (isShort) return { session, grant: { ...this.#issue(session), accessLifetimeMs: 36_000_000 } }
    const refreshToken = `refresh-${session.number}`
    this.#byToken.set(refreshToken, session)
    return { session, grant: { ...this.#issue(session), refreshToken, refreshLifetimeMs: 36_000_000 } }
  }

  sessionOf(token: string | undefined): Session | undefined {
    return this.#byToken.get(token ?? '')
  }

  #issue(session: Session): TokenGrant {
    const accessToken = `access-${++this.#issued}`
    this.#byToken.set(accessToken, session)
    return { accessToken, accessLifetimeMs: 60_000, ...(session.who !== 'carol' && { subject: session.who }) }
  }
}
