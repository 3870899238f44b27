import type { Act } from './acts.ts'
import type { Whole } from './whole.ts'

/** A stored token set. The store's own clock measures remaining lifetimes, so the clocks of two machines are never compared. */
export interface StoredTokens {
  readonly version: number
  readonly accessToken: string
  readonly accessLifetimeMs: number
  readonly accessRemainingMs: number
  readonly refreshToken?: string | undefined
  readonly refreshRemainingMs?: number | undefined
  /** Time until renewal is due, if the service or the expiry of the refresh token requires it earlier than the lifetime of the access token does. */
  readonly dueRemainingMs?: number | undefined
  /** The number of the login in the record. Absent in a private record. */
  readonly login?: number | undefined
  /** The fingerprint of the user who logged in. */
  readonly subject?: string | undefined
  /** Random ID of an adopted login. Renewals keep it. */
  readonly loginId?: string | undefined
  /** What the source needs to refresh and revoke these tokens. */
  readonly context?: string | undefined
  /** The digest of the credentials that obtained the tokens. */
  readonly credentials?: string | undefined
  /** The fingerprint of the refresh token, if the record computes it. */
  readonly fingerprint?: string | undefined
}

/** The tokens from an exchange or a login. Without an access token, `accessToken` is empty and its lifetime is 0. */
export type NewTokens = Omit<StoredTokens, 'version' | 'login'> & {
  /** For a login from a private record: whether the refresh token was rejected, and for how long it has been in doubt. */
  readonly retired?: boolean | undefined
  readonly doubtMs?: number | undefined
}

/** Whether the two token sets have the same access token or the same refresh token. */
export function areSame(one: NewTokens, { accessToken, refreshToken }: NewTokens): boolean {
  const isSameAccess = accessToken !== '' && accessToken === one.accessToken
  return isSameAccess || (refreshToken !== undefined && refreshToken === one.refreshToken)
}

/** @returns The tokens with all remaining lifetimes reduced by `byMs`. */
export function aged<Tokens extends NewTokens>(tokens: Tokens, byMs: number): Tokens {
  const { accessRemainingMs, refreshRemainingMs, dueRemainingMs } = tokens
  return {
    ...tokens,
    accessRemainingMs: accessRemainingMs - byMs,
    refreshRemainingMs: refreshRemainingMs === undefined ? undefined : refreshRemainingMs - byMs,
    dueRemainingMs: dueRemainingMs === undefined ? undefined : dueRemainingMs - byMs,
  }
}

/** What is known about a login and its user. */
export interface Identity {
  /** A random id, made by the manager that adopted the login. Renewals keep it. */
  readonly loginId?: string | undefined
  /** The number of the login in the record. 0: none. */
  readonly login?: number | undefined
  /** The user's name as passed to `adopt()`. It is known before its fingerprint. */
  readonly name?: string | undefined
  /** The fingerprint of the user. */
  readonly subject?: string | undefined
}

/** The login that an act ends. */
export interface Ending extends Identity {
  /** Undefined: the act ends later logins, too. */
  readonly act?: Act | undefined
}

/** Ends any login. */
export const NO_ENDING: Whole<Ending> = {
  ...{ loginId: undefined, login: undefined, name: undefined, subject: undefined, act: undefined },
}

/**
 * The tokens in the record after an adoption. `known`: a login of the record began with this refresh token or has spent it, so the record is
 * unchanged. `same`: that login is current, and these are its tokens. `replaced`: these are the tokens of the login that replaced it. `ended`: the
 * record has no tokens.
 */
export interface AdoptedTokens extends StoredTokens {
  readonly known?: 'same' | 'replaced' | 'ended' | undefined
}
