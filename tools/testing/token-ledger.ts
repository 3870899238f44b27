import { randomBytes, randomUUID } from 'node:crypto'

/** An access token. Instants are epoch ms by the service's clock. */
export interface IssuedAccess {
  id: string
  access: string
  accessExpiresAt: number
}

/** An access token with its refresh token. */
export interface IssuedTokens extends IssuedAccess {
  refresh: string
  refreshExpiresAt: number
}

/** All tokens descended from one token set by rotation. */
export interface Family {
  isRevoked: boolean
  /** Whether the token set is that of a user's login: then a public client may use it. */
  readonly isLogin: boolean
  /** The thumbprint of the key to which the tokens are bound (RFC 9449, section 5). */
  jkt: string | undefined
}

interface Issued {
  readonly expiresAt: number
  readonly family: Family
}

/**
 * The issued tokens and their validity (specification, section 3). Has no clock: the methods take `now`.
 * A token is valid before the instant of its expiry, not at it. An obtain does not change tokens that were issued before.
 */
export class TokenLedger {
  readonly #lifetimes: { accessLifetimeMs: number; refreshLifetimeMs: number }
  readonly #access = new Map<string, Issued>()
  /** The refresh tokens in order of issue, without superseded ones. */
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

  issueTokens(now: number, family = newFamily()): IssuedTokens {
    const refresh = opaqueToken()
    const refreshExpiresAt = now + this.#lifetimes.refreshLifetimeMs
    this.#refresh.set(refresh, { expiresAt: refreshExpiresAt, family })
    return { ...this.issueAccess(now, family), refresh, refreshExpiresAt }
  }

  /** @returns The next token set, or undefined if `refresh` is unknown, superseded, revoked or expired. */
  rotate(refresh: string, now: number): IssuedTokens | undefined {
    const issued = this.#refresh.get(refresh)
    if (!issued || !isGood(issued, now)) return undefined
    this.#refresh.delete(refresh)
    this.#superseded.set(refresh, issued.family)
    return this.issueTokens(now, issued.family)
  }

  /** If `refresh` was superseded, revokes its whole family, because thief and owner cannot be told apart. */
  revokeReused(refresh: string): void {
    const family = this.#superseded.get(refresh)
    if (family) family.isRevoked = true
  }

  /** The family of any token that was issued, superseded ones included. */
  familyOf(token: string): Family | undefined {
    return this.#refresh.get(token)?.family ?? this.#superseded.get(token) ?? this.#access.get(token)?.family
  }

  /** Revokes a refresh token with its whole family, or an access token alone (RFC 7009, section 2.1). */
  revoke(token: string): void {
    if (this.#access.delete(token)) return
    const family = this.familyOf(token)
    if (family) family.isRevoked = true
  }

  /** The last issued refresh token that is still valid. */
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
