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

/** All tokens that came of one pair by rotation. */
export interface Family {
  isRevoked: boolean
  /** Whether a person's login brought the pair: then a client without a secret may use it. */
  readonly isLogin: boolean
  /** The thumbprint of the key to which the tokens are bound (RFC 9449, section 5). */
  jkt: string | undefined
}

interface Issued {
  readonly expiresAt: number
  readonly family: Family
}

/**
 * What was issued and what is still good (specification, section 3). Knows no clock: every question takes `now`.
 * A token is good before the instant of its expiry, and not at it. An obtain does not change tokens that were issued before.
 */
export class TokenLedger {
  readonly #lifetimes: { accessLifetimeMs: number; refreshLifetimeMs: number }
  readonly #access = new Map<string, Issued>()
  /** In order of issue. Superseded tokens are not in it. */
  readonly #refresh = new Map<string, Issued>()
  readonly #superseded = new Map<string, Family>()

  constructor(lifetimes: { accessLifetimeMs: number; refreshLifetimeMs: number }) {
    this.#lifetimes = lifetimes
  }

  issueAccess(now: number, family = newFamily()): IssuedAccess {
    const access = opaqueToken()
    const accessExpiresAt = now + this.#lifetimes.accessLifetimeMs
    this.#access.set(access, { expiresAt: accessExpiresAt, family })
    return { id: randomUUID(), access, accessExpiresAt }
  }

  issuePair(now: number, family = newFamily()): IssuedPair {
    const refresh = opaqueToken()
    const refreshExpiresAt = now + this.#lifetimes.refreshLifetimeMs
    this.#refresh.set(refresh, { expiresAt: refreshExpiresAt, family })
    return { ...this.issueAccess(now, family), refresh, refreshExpiresAt }
  }

  /** @returns the next pair, or undefined if `refresh` is unknown, superseded or expired. */
  rotate(refresh: string, now: number): IssuedPair | undefined {
    const issued = this.#refresh.get(refresh)
    if (!issued || !isGood(issued, now)) return undefined
    this.#refresh.delete(refresh)
    this.#superseded.set(refresh, issued.family)
    return this.issuePair(now, issued.family)
  }

  /** If `refresh` was superseded, revokes all tokens that came of its pair: nobody can tell thief and owner apart. */
  revokeReused(refresh: string): void {
    const family = this.#superseded.get(refresh)
    if (family) family.isRevoked = true
  }

  /** The family of any token that was issued, superseded ones included. */
  familyOf(token: string): Family | undefined {
    return this.#refresh.get(token)?.family ?? this.#superseded.get(token) ?? this.#access.get(token)?.family
  }

  /** A refresh token takes with it all tokens that came of its pair; an access token goes alone (RFC 7009, section 2.1). */
  revoke(token: string): void {
    if (this.#access.delete(token)) return
    const family = this.familyOf(token)
    if (family) family.isRevoked = true
  }

  /** The refresh token issued last among those still good. */
  currentRefresh(now: number): string | undefined {
    return [...this.#refresh].findLast(([, issued]) => isGood(issued, now))?.[0]
  }

  acceptsAccess(access: string, now: number): boolean {
    const issued = this.#access.get(access)
    return issued !== undefined && isGood(issued, now)
  }

  revokeAccess(): void {
    this.#access.clear()
  }
}

export function newFamily({ isLogin = false, jkt }: { isLogin?: boolean; jkt?: string | undefined } = {}): Family {
  return { isRevoked: false, isLogin, jkt }
}

function isGood({ expiresAt, family }: Issued, now: number): boolean {
  return now < expiresAt && !family.isRevoked
}

function opaqueToken(): string {
  return randomBytes(32).toString('base64url')
}
