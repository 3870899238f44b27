import { TokenError, type TokenGrant } from '../../src/index.ts'

export const ACCESS_MS = 60_000
export const REFRESH_MS = 3_600_000

interface Session {
  readonly access: string
  readonly issuedAt: number
  refresh: 'live' | 'spent' | 'ended'
}

/** A token service that rotates single-use refresh tokens for real. */
export class TokenService {
  /** By refresh token, oldest first. */
  readonly #sessions = new Map<string, Session>()
  /** An obtain ends all earlier sessions of the account. */
  readonly #obtainEnds: boolean

  constructor(obtainEnds: boolean) {
    this.#obtainEnds = obtainEnds
  }

  /** @param name Of the call: tokens are named after it, so that the order of independent calls leaves no trace. */
  obtain(name: string, now: number): TokenGrant {
    if (this.#obtainEnds) for (const session of this.#sessions.values()) session.refresh = 'ended'
    return this.#issue(name, now)
  }

  /** @throws {TokenError} as the specification's 401. */
  refresh(name: string, refreshToken: string, now: number): TokenGrant {
    const session = this.#sessions.get(refreshToken)
    if (session?.refresh !== 'live') throw refused()
    session.refresh = 'spent'
    return this.#issue(name, now)
  }

  /** Of an access token: until it ends; undefined where it was never issued, or its session has ended. */
  remainingMs(access: string, now: number): number | undefined {
    for (const session of this.#sessions.values())
      if (session.access === access && session.refresh !== 'ended') return session.issuedAt + ACCESS_MS - now
    return undefined
  }

  issuedAt(access: string): number | undefined {
    return [...this.#sessions.values()].find((session) => session.access === access)?.issuedAt
  }

  get key(): string {
    return [...this.#sessions]
      .map(([name, { refresh, issuedAt }]) => `${name} ${refresh} ${issuedAt}`)
      .sort()
      .join()
  }

  #issue(name: string, now: number): TokenGrant {
    this.#sessions.set(`refresh-${name}`, { access: `access-${name}`, issuedAt: now, refresh: 'live' })
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
