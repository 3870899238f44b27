import { TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'

/** Rotates the refresh tokens of one login. Presenting a used one ends the login. */
export class StrictService {
  readonly presented: string[] = []
  hasEnded = false
  readonly #lifetimeMs: number
  #rotations = 0

  constructor(lifetimeMs = 60_000) {
    this.#lifetimeMs = lifetimeMs
  }

  source(): TokenSource {
    return {
      id: 'strict',
      login: person,
      obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in', { outcome: 'not-sent' })),
      refresh: (refreshToken) => this.#refresh(refreshToken),
    }
  }

  async #refresh(refreshToken: string): Promise<TokenGrant> {
    this.presented.push(refreshToken)
    this.hasEnded ||= refreshToken !== `refresh-${this.#rotations}`
    if (this.hasEnded) throw new TokenError('ERR_REFRESH_REJECTED', 'reused', { outcome: 'rejected', status: 400 })
    this.#rotations += 1
    return this.grant()
  }

  grant(): TokenGrant {
    const n = this.#rotations
    return { accessToken: `access-${n}`, accessLifetimeMs: this.#lifetimeMs, refreshToken: `refresh-${n}` }
  }
}
