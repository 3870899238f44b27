import { TokenError, type TokenGrant } from '../../src/index.ts'

export const ACCESS_MS = 60_000
export const REFRESH_MS = 3_600_000

interface Session {
  readonly access: string
  readonly issuedAt: number
  /** Of the login or the obtain that it goes back to. */
  readonly root: string
  refresh: 'live' | 'spent' | 'ended'
  spentAt?: number
  /** The obtains that have ended it. */
  readonly endedBy: Set<string>
}

/** A token service that rotates single-use refresh tokens for real. */
export class TokenService {
  /** By refresh token, oldest first. */
  readonly #sessions = new Map<string, Session>()
  /** An obtain ends all earlier sessions of the account. */
  readonly #obtainEnds: boolean
  /** For so long it accepts a refresh token that was used. */
  readonly #graceMs: number

  constructor(obtainEnds: boolean, graceMs: number) {
    this.#obtainEnds = obtainEnds
    this.#graceMs = graceMs
  }

  /** @param name Of the call: tokens are named after it, so that the order of independent calls leaves no trace. */
  obtain(name: string, now: number): TokenGrant {
    if (this.#obtainEnds)
      for (const session of this.#sessions.values()) {
        session.refresh = 'ended'
        session.endedBy.add(name)
      }
    return this.#issue(name, name, now)
  }

  /** Of a person, beside all that owners do. */
  login(name: string, now: number): TokenGrant {
    return this.#issue(name, name, now)
  }

  /** @throws {TokenError} as the specification's 401. */
  refresh(name: string, refreshToken: string, now: number): TokenGrant {
    const session = this.#sessions.get(refreshToken)
    const isRepeat = session?.refresh === 'spent' && now - (session.spentAt ?? now) < this.#graceMs
    if (!session || (session.refresh !== 'live' && !isRepeat)) throw refused()
    session.refresh = 'spent'
    session.spentAt ??= now
    return this.#issue(name, session.root, now)
  }

  /** @returns The obtains that have ended the session of a refresh token. */
  endedBy(refreshToken: string): readonly string[] {
    return [...(this.#sessions.get(refreshToken)?.endedBy ?? [])]
  }

  /** Of an access token: the login or the obtain that it goes back to. */
  rootOf(access: string): string | undefined {
    return this.#sessionOf(access)?.root
  }

  /** Of an access token: until it ends; undefined where it was never issued, or its session has ended. */
  remainingMs(access: string, now: number): number | undefined {
    for (const session of this.#sessions.values())
      if (session.access === access && session.refresh !== 'ended') return session.issuedAt + ACCESS_MS - now
    return undefined
  }

  issuedAt(access: string): number | undefined {
    return this.#sessionOf(access)?.issuedAt
  }

  get key(): string {
    return [...this.#sessions]
      .map(([name, { refresh, issuedAt, spentAt, endedBy }]) =>
        [name, refresh, issuedAt, this.#graceMs > 0 ? spentAt : '', ...[...endedBy].sort()].join(' '),
      )
      .sort()
      .join()
  }

  #sessionOf(access: string): Session | undefined {
    return [...this.#sessions.values()].find((session) => session.access === access)
  }

  #issue(name: string, root: string, now: number): TokenGrant {
    const session: Session = { access: `access-${name}`, issuedAt: now, root, refresh: 'live', endedBy: new Set() }
    this.#sessions.set(`refresh-${name}`, session)
    return {
      accessToken: `access-${name}`,
      accessLifetimeMs: ACCESS_MS,
      refreshToken: `refresh-${name}`,
      refreshLifetimeMs: REFRESH_MS,
    }
  }
}

function refused(): TokenError {
  const details = { status: 401, outcome: 'rejected', refreshToken: 'refused' } as const
  return new TokenError('ERR_REFRESH_REJECTED', 'answered 401', details)
}

/** As `oauth2` with `grant: 'login'` answers, without a call. */
export function loginRequired(): TokenError {
  return new TokenError('ERR_LOGIN_REQUIRED', 'A person must log in', { outcome: 'not-sent' })
}

export function throttled(): TokenError {
  return new TokenError('ERR_THROTTLED', 'answered 429', { status: 429, outcome: 'deferred' })
}

export function failed(): TokenError {
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'answered 503', { status: 503, outcome: 'unknown-5xx' })
}

/** The connection broke: nobody knows whether the service has acted. */
export function cut(): TokenError {
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'connection reset', { outcome: 'unknown' })
}
