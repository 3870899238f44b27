import type { ExchangeOutcome, TokenErrorCode, TokenErrorDetails } from '../core/errors.ts'
import type { Exchange } from '../core/token-source.ts'

/** What is known of an exchange that failed. */
export interface Failure extends Pick<TokenErrorDetails, 'refreshToken' | 'loginReason'> {
  readonly code: TokenErrorCode
  readonly outcome: ExchangeOutcome
}

/**
 * What a complete answer outside 2xx means if only its status is known (specification, section 7, and the field notes). On a
 * refresh, 401 refuses the refresh token, 400 says that the refresh token is useless, and 403 refuses the client, so that the
 * refresh token stays good.
 */
export function failureOfStatus(exchange: Exchange, status: number): Failure {
  if (status === 429) return { code: 'ERR_THROTTLED', outcome: 'deferred' }
  if (status >= 500 && status <= 599) return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown-5xx' }
  if (status === 408 || status === 425) return { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown' }
  if (status === 400 || status === 401 || status === 403) {
    if (exchange === 'obtain') return { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected' }
    const refreshToken = status === 401 ? 'refused' : status === 400 ? 'unusable' : 'kept'
    return { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', refreshToken }
  }
  if (status >= 300 && status <= 499) return { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected' }
  return { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown' }
}
