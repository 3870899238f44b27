import type { ExchangeContext } from '../core/token-source.ts'

/** The endpoints of a server, and its issuer identifier. */
export interface Endpoints {
  readonly tokenEndpoint: URL
  readonly revocationEndpoint: URL | undefined
  readonly issuer: string
}

/** An authorization server. */
export interface TokenServer {
  /** Names the server in the id of a source. */
  readonly name: string
  /** Whether tokens can be revoked. Also true if only the metadata can show this. */
  readonly mayRevoke: boolean
  /** @throws {TokenError} if the endpoints are unknown. Then no token request was sent, and the refresh token is not spent. */
  endpoints(context: ExchangeContext): Promise<Endpoints>
  /** Forgets what was discovered. */
  forget?(): void
}

/** A server whose endpoints are given. */
export function knownServer(
  tokenEndpoint: URL,
  revocationEndpoint: URL | undefined,
  issuer: string | URL = tokenEndpoint,
): TokenServer {
  const endpoints = { tokenEndpoint, revocationEndpoint, issuer: String(issuer) }
  return {
    name: tokenEndpoint.href,
    mayRevoke: revocationEndpoint !== undefined,
    endpoints: () => Promise.resolve(endpoints),
  }
}
