import type { Clock } from './clock.ts'
import { TokenError } from './errors.ts'
import type { AnomalyKind } from './events.ts'

/**
 * Where tokens come from: performs exchanges with one service for one account. Never retries, never shares: the manager
 * does. `clientCredentials` and `loginPassword` are built on it; write your own for any other service.
 */
export interface TokenSource {
  /** Tells services, variants and accounts apart; the default store key. Stores hash it, nothing prints it. */
  readonly id: string
  /** Origin of the service, allowed to receive the token. */
  readonly origin?: string
  /** Exchanges credentials for tokens. */
  obtain(context: ExchangeContext): Promise<TokenGrant>
  /** Exchanges a single-use refresh token for the next pair. Absent: every renewal is an obtain. */
  refresh?(refreshToken: string, context: ExchangeContext): Promise<TokenGrant>
  /** Forgets what it has learnt from answers; called by `reset()` of the manager. */
  reset?(): void
}

export interface ExchangeContext {
  /** Aborted when `exchangeTimeoutMs` has passed; never because a caller gave up or the manager was closed. */
  readonly signal: AbortSignal
  /** The manager's clock, for sources that must carry the service's time forward. */
  readonly clock: Clock
  /** Reports an answer that is usable but odd; becomes an `anomaly` event. Give no secret. */
  readonly report?: (kind: AnomalyKind, message: string) => void
}

/** What one exchange brought. Lifetimes count from the moment the request was sent. */
export interface TokenGrant {
  accessToken: string
  accessLifetimeMs: number
  refreshToken?: string
  refreshLifetimeMs?: number
}

/**
 * @returns A frozen copy with only the members above.
 * @throws {TokenError} `ERR_TOKEN_RESPONSE` when a member is missing or cannot be used. Its outcome is unknown: the service
 * may have rotated the refresh token all the same.
 */
export function checkedGrant(grant: TokenGrant | undefined): Readonly<TokenGrant> {
  const { accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs }: Partial<Record<keyof TokenGrant, unknown>> =
    grant ?? {}
  // axios strips other characters silently, and a different token would be sent.
  if (typeof accessToken !== 'string' || !/^[\x21-\x7e]+$/.test(accessToken))
    throw unusable('accessToken must be a string of visible ASCII characters')
  if (!isLifetime(accessLifetimeMs)) throw unusable('accessLifetimeMs must be a positive, finite number')
  if (refreshToken === undefined) return Object.freeze({ accessToken, accessLifetimeMs })
  if (typeof refreshToken !== 'string' || refreshToken === '') throw unusable('refreshToken must be a non-empty string')
  if (refreshLifetimeMs === undefined) return Object.freeze({ accessToken, accessLifetimeMs, refreshToken })
  if (!isLifetime(refreshLifetimeMs)) throw unusable('refreshLifetimeMs must be a positive, finite number')
  return Object.freeze({ accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs })
}

function isLifetime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function unusable(what: string): TokenError {
  return new TokenError('ERR_TOKEN_RESPONSE', `The token source gave a grant that cannot be used: ${what}`, {
    outcome: 'unknown',
  })
}
