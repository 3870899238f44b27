import type { IssuedTokens } from './token-ledger.ts'

/** The token set of a login, for `adopt()` of a token manager. Lifetimes in ms. */
export interface SimulatedLogin {
  accessToken: string
  accessLifetimeMs: number
  refreshToken: string
  refreshLifetimeMs: number
  /** The user who logged in, if `logIn` was given one. */
  subject?: string
  /**
   * The same as a token response of an OAuth 2.0 server (RFC 6749, section 5.1): `access_token`, `token_type`,
   * `expires_in` and `refresh_expires_in` in seconds, `refresh_token`; with a subject, also an unsigned `id_token` with that `sub`.
   */
  answer: Readonly<Record<string, string | number>>
}

/** @param now When the token set was issued, epoch ms by the service's clock. */
export function loginOf(
  { access, refresh, accessExpiresAt, refreshExpiresAt }: IssuedTokens,
  subject: string | undefined,
  now: number,
  issuer: string,
): SimulatedLogin {
  const [accessLifetimeMs, refreshLifetimeMs] = [accessExpiresAt - now, refreshExpiresAt - now]
  const answer = {
    access_token: access,
    token_type: 'Bearer',
    expires_in: accessLifetimeMs / 1000,
    refresh_token: refresh,
    refresh_expires_in: refreshLifetimeMs / 1000,
  }
  const login = { accessToken: access, accessLifetimeMs, refreshToken: refresh, refreshLifetimeMs }
  if (subject === undefined) return { ...login, answer }
  const iat = Math.floor(now / 1000)
  const claims = { iss: issuer, sub: subject, aud: 'page', iat, exp: Math.ceil(accessExpiresAt / 1000) }
  return { ...login, subject, answer: { ...answer, id_token: unsigned(claims) } }
}

/** @returns A JWT without a signature (RFC 7519, section 6). */
function unsigned(claims: object): string {
  return `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`
}
