import type { TokenGrant } from '../../../src/index.ts'

export interface RealServerSettings {
  readonly clientId: string
  readonly clientSecret: string
  /** Whether each use of a refresh token spends that token, and returns the next one. */
  readonly rotates: boolean
  /** How long the server accepts a used refresh token again, ms. Default 0. */
  readonly graceMs?: number
  readonly accessLifetimeS: number
  readonly refreshLifetimeS: number
}

/** An OAuth 2.0 server by other authors. */
export interface RealServer {
  readonly tokenEndpoint: string
  /** A user logs in, and the application redeems the code. */
  logIn(): Promise<TokenGrant & { refreshToken: string }>
  changeSecret(secret: string): Promise<void>
  /** A user withdraws their consent. */
  revokeGrants(): Promise<void>
  moveClock(ms: number): Promise<void>
  end(): Promise<void>
}

/** What an application does with the code of a login (RFC 6749, section 4.1.3). */
export async function redeemed(
  tokenEndpoint: string,
  { clientId, clientSecret }: RealServerSettings,
  form: Record<string, string>,
): Promise<TokenGrant & { refreshToken: string }> {
  const headers = { Authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` }
  const body = new URLSearchParams({ grant_type: 'authorization_code', ...form })
  const response = await fetch(tokenEndpoint, { method: 'POST', headers, body })
  const answer = (await response.json()) as { access_token: string; refresh_token: string; expires_in: number }
  if (!response.ok) throw new Error(JSON.stringify(answer))
  const { access_token: accessToken, refresh_token: refreshToken, expires_in } = answer
  return { accessToken, refreshToken, accessLifetimeMs: expires_in * 1_000 }
}
