import { randomBytes, randomUUID } from 'node:crypto'

/** An access token. Instants are epoch ms by the service's clock. */
export interface IssuedAccess {
  id: string
  access: string
  accessExpiresAt: number
}

/** An access token with its refresh token. */
export interface IssuedPair extends IssuedAccess {
  refresh: string
  refreshExpiresAt: number
}

/**
 * What was issued and what is still good (specification, section 3). Knows no clock: every question takes `now`.
 * A token is good until its expiry, and no longer at it. Obtaining again does not touch what was issued before.
 */
export class TokenLedger {
  readonly #lifetimes: { accessLifetimeMs: number; refreshLifetimeMs: number }
  readonly #accessExpiries = new Map<string, number>()
  /** In order of issue; a superseded token is simply gone. */
  readonly #refreshExpiries = new Map<string, number>()

  constructor(lifetimes: { accessLifetimeMs: number; refreshLifetimeMs: number }) {
    this.#lifetimes = lifetimes
  }

  issueAccess(now: number): IssuedAccess {
    const access = opaqueToken()
    const accessExpiresAt = now + this.#lifetimes.accessLifetimeMs
    this.#accessExpiries.set(access, accessExpiresAt)
    return { id: randomUUID(), access, accessExpiresAt }
  }

  issuePair(now: number): IssuedPair {
    const refresh = opaqueToken()
    const refreshExpiresAt = now + this.#lifetimes.refreshLifetimeMs
    this.#refreshExpiries.set(refresh, refreshExpiresAt)
    return { ...this.issueAccess(now), refresh, refreshExpiresAt }
  }

  /** @returns the next pair, or undefined if `refresh` is unknown, superseded or expired. */
  rotate(refresh: string, now: number): IssuedPair | undefined {
    if (!isAhead(this.#refreshExpiries.get(refresh), now)) return undefined
    this.#refreshExpiries.delete(refresh)
    return this.issuePair(now)
  }

  /** The refresh token issued last among those still good. */
  currentRefresh(now: number): string | undefined {
    return [...this.#refreshExpiries].findLast(([, expiresAt]) => isAhead(expiresAt, now))?.[0]
  }

  acceptsAccess(access: string, now: number): boolean {
    return isAhead(this.#accessExpiries.get(access), now)
  }

  revokeAccess(): void {
    this.#accessExpiries.clear()
  }
}

function isAhead(expiresAt: number | undefined, now: number): boolean {
  return expiresAt !== undefined && now < expiresAt
}

function opaqueToken(): string {
  return randomBytes(32).toString('base64url')
}
