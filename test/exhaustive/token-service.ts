import { TokenError, type TokenGrant } from '../../src/index.ts'

export const ACCESS_MS = 60_000
export const REFRESH_MS = 3_600_000

interface Session {
  readonly access: string
  readonly issuedAt: number
  /** The resource that the access token is for. */
  readonly what: string | undefined
  /** The login or the obtain from which the session descends. */
  readonly root: string
  /** The user, if the service names one. */
  readonly person: string | undefined
  refresh: 'live' | 'spent' | 'ended'
  spentAt?: number
  /** The obtains that have ended the session. */
  readonly endedBy: Set<string>
}

/** A token service that really rotates single-use refresh tokens. */
export class TokenService {
  /** The sessions by refresh token, oldest first. */
  readonly #sessions = new Map<string, Session>()
  /** Whether an obtain ends all earlier sessions of the account. */
  readonly #obtainEnds: boolean
  /** How long the service accepts a used refresh token. */
  readonly #graceMs: number
  /** The logins of which the service has rejected a refresh token. */
  readonly refusedRoots = new Set<string>()

  constructor(obtainEnds: boolean, graceMs: number) {
    this.#obtainEnds = obtainEnds
    this.#graceMs = graceMs
  }

  /** @param name Of the call. Tokens are named after their call, so the order of independent calls leaves no trace. */
  obtain(name: string, now: number): TokenGrant {
    if (this.#obtainEnds)
      for (const session of this.#sessions.values()) {
        session.refresh = 'ended'
        session.endedBy.add(name)
      }
    return this.#issue(name, name, now)
  }

  /** A user logs in, independently of what owners do. */
  login(name: string, now: number, person: string | undefined): TokenGrant {
    return this.#issue(name, name, now, person)
  }

  /** This refresh token is no longer needed (RFC 7009). */
  revoke(refreshToken: string): void {
    const session = this.#sessions.get(refreshToken)
    if (session) session.refresh = 'ended'
  }

  /** @throws {TokenError} like the 401 of the specification. */
  refresh(name: string, refreshToken: string, now: number, what?: string): TokenGrant {
    const session = this.#sessions.get(refreshToken)
    const isRepeat = session?.refresh === 'spent' && now - (session.spentAt ?? now) < this.#graceMs
    if (!session || (session.refresh !== 'live' && !isRepeat)) {
      this.refusedRoots.add(session?.root ?? '')
      throw refused()
    }
    session.refresh = 'spent'
    session.spentAt ??= now
    return this.#issue(name, session.root, now, session.person, what)
  }

  /** @returns The obtains that have ended the session of a refresh token. */
  endedBy(refreshToken: string): readonly string[] {
    return [...(this.#sessions.get(refreshToken)?.endedBy ?? [])]
  }

  /** @returns The login or the obtain from which an access token descends. */
  rootOf(access: string): string | undefined {
    return this.#sessionOf(access)?.root
  }

  /** @returns Whose login an access token belongs to. A named user is always the same one. */
  loginOf(access: string): string | undefined {
    const session = this.#sessionOf(access)
    return session?.person ?? session?.root
  }

  loginOfRefresh(refreshToken: string): string | undefined {
    const session = this.#sessions.get(refreshToken)
    return session && this.loginOf(session.access)
  }

  /** @returns Whether the refresh token that came with an access token can be used. */
  isLive(access: string): boolean {
    return this.#sessionOf(access)?.refresh === 'live'
  }

  /** @returns The lifetime of an access token; undefined if it was never issued, or its session has ended. */
  remainingMs(access: string, now: number): number | undefined {
    for (const session of this.#sessions.values())
      if (session.access === access && session.refresh !== 'ended') return session.issuedAt + ACCESS_MS - now
    return undefined
  }

  /** @returns The resource that an access token is for. Undefined: the login's own API. */
  whatIs(access: string): string | undefined {
    return this.#sessionOf(access)?.what
  }

  issuedAt(access: string): number | undefined {
    return this.#sessionOf(access)?.issuedAt
  }

  get key(): string {
    return [...this.#sessions]
      .map(([name, { refresh, issuedAt, what, spentAt, endedBy }]) =>
        [name, refresh, issuedAt, what, this.#graceMs > 0 ? spentAt : '', ...[...endedBy].sort()].join(' '),
      )
      .sort()
      .join()
  }

  #sessionOf(access: string): Session | undefined {
    return [...this.#sessions.values()].find((session) => session.access === access)
  }

  #issue(name: string, root: string, now: number, person?: string, what?: string): TokenGrant {
    const access = `access-${name}`
    const session: Session = { access, issuedAt: now, root, person, what, refresh: 'live', endedBy: new Set() }
    this.#sessions.set(`refresh-${name}`, session)
    return {
      accessToken: access,
      ...(person !== undefined && { subject: person }),
      accessLifetimeMs: ACCESS_MS,
      refreshToken: `refresh-${name}`,
      refreshLifetimeMs: REFRESH_MS,
    }
  }
}

function refused(): TokenError {
  const details = { status: 401, outcome: 'rejected', refreshToken: 'refused' } as const
  return new TokenError('ERR_REFRESH_REJECTED', 'responded with 401', details)
}

/** Fails without a call, like `oauth2` with `grant: 'login'`. */
export function loginRequired(): TokenError {
  return new TokenError('ERR_LOGIN_REQUIRED', 'A person must log in', { outcome: 'not-sent' })
}

export function throttled(): TokenError {
  return new TokenError('ERR_THROTTLED', 'responded with 429', { status: 429, outcome: 'deferred' })
}

export function failed(): TokenError {
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'responded with 503', { status: 503, outcome: 'unknown-5xx' })
}

/** An unknown error: it says nothing about the refresh token. */
export function odd(): TokenError {
  return new TokenError('ERR_TOKEN_REQUEST', 'responded with 400', { status: 400, outcome: 'rejected' })
}

/** The connection broke, so it is unknown whether the service has acted. */
export function cut(): TokenError {
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'connection reset', { outcome: 'unknown' })
}
