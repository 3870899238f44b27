import type { Clock } from './clock.ts'
import { TokenError } from './errors.ts'
import type { AnomalyKind } from './events.ts'
import { kindOf } from './option-checks.ts'
import { member } from './thrown.ts'

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
  /**
   * `false`: nobody waits for this call, and it need not keep the process alive. Default true.
   */
  readonly holdsProcess?: boolean
  /** Reports an answer that is usable but odd; becomes an `anomaly` event. Give no secret. */
  readonly report?: (kind: AnomalyKind, message: string) => void
}

export type Exchange = 'obtain' | 'refresh'

/** What one exchange brought. Lifetimes count from the moment the request was sent. */
export interface TokenGrant {
  accessToken: string
  accessLifetimeMs: number
  refreshToken?: string
  refreshLifetimeMs?: number
}

/**
 * @returns A frozen copy with only the members above.
 * @throws {TokenError} `ERR_TOKEN_SOURCE` when a member is missing or of the wrong kind: the source is broken.
 * `ERR_TOKEN_RESPONSE` when its value cannot be used. The outcome of both is unknown: the service may have rotated the
 * refresh token all the same.
 */
export function checkedGrant(grant: TokenGrant | undefined): Readonly<TokenGrant> {
  if (typeof grant !== 'object' || (grant as unknown) === null)
    throw broken(`it gave ${kindOf(grant)} in place of { accessToken, accessLifetimeMs }`)
  const [accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs] = [
    member(grant, 'accessToken'),
    member(grant, 'accessLifetimeMs'),
    member(grant, 'refreshToken'),
    member(grant, 'refreshLifetimeMs'),
  ]
  if (accessToken === undefined) throw missing('accessToken', grant, ['access_token', 'access', 'token'])
  if (typeof accessToken !== 'string') throw broken(`accessToken must be a string, got ${kindOf(accessToken)}`)
  // axios strips other characters silently, and a different token would be sent.
  if (!/^[\x21-\x7e]+$/.test(accessToken)) throw unusable('accessToken must be visible ASCII characters')
  if (accessLifetimeMs === undefined) throw missing('accessLifetimeMs', grant, ['expires_in', 'expiresIn'])
  checkLifetime('accessLifetimeMs', accessLifetimeMs)
  if (refreshToken === undefined) return Object.freeze({ accessToken, accessLifetimeMs })
  if (typeof refreshToken !== 'string') throw broken(`refreshToken must be a string, got ${kindOf(refreshToken)}`)
  if (refreshToken === '' || /[\p{Cc}\p{Cs}]/u.test(refreshToken))
    throw unusable('refreshToken must be well-formed text without control characters, and not empty')
  if (refreshLifetimeMs === undefined) return Object.freeze({ accessToken, accessLifetimeMs, refreshToken })
  checkLifetime('refreshLifetimeMs', refreshLifetimeMs)
  return Object.freeze({ accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs })
}

function checkLifetime(name: string, value: unknown): asserts value is number {
  if (typeof value !== 'number') throw broken(`${name} must be a number of milliseconds, got ${kindOf(value)}`)
  if (Number.isNaN(value)) throw broken(`${name} must be a number of milliseconds, got NaN`)
  if (value <= 0 || value === Infinity) throw unusable(`${name} must be positive and finite, got ${value}`)
}

/** @param others What the member is called elsewhere. */
function missing(name: string, grant: object, others: readonly string[]): TokenError {
  const found = others.find((other) => other in grant)
  return broken(found === undefined ? `${name} is missing` : `${name} is missing; did you mean ${found}?`)
}

function broken(what: string): TokenError {
  const message = `The token source is broken: ${what}`
  return new TokenError('ERR_TOKEN_SOURCE', message, { outcome: 'unknown' })
}

function unusable(what: string): TokenError {
  const message = `The token source gave a grant that cannot be used: ${what}`
  return new TokenError('ERR_TOKEN_RESPONSE', message, { outcome: 'unknown' })
}
