import type { ExchangeOutcome, TokenErrorCode, TokenErrorDetails } from '../core/errors.ts'
import type { Exchange } from '../core/token-source.ts'

/** What is known of a failed exchange. */
export interface Failure extends Pick<TokenErrorDetails, 'refreshToken' | 'loginReason'> {
  readonly code: TokenErrorCode
  readonly outcome: ExchangeOutcome
  /** What it means, or what to do about it, if that does not depend on the protocol. */
  readonly advice?: string | undefined
}

export const THROTTLED: Failure = {
  code: 'ERR_THROTTLED',
  outcome: 'deferred',
  advice: 'too many token requests: let all processes of the account share a store',
}
export const SERVICE_FAILED: Failure = {
  code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
  outcome: 'unknown-5xx',
  advice: 'the token service failed',
}
/** The service may have acted. */
export const UNFINISHED: Failure = {
  code: 'ERR_TOKEN_SERVICE_UNAVAILABLE',
  outcome: 'unknown',
  advice: 'the token service did not complete the request',
}

/**
 * What a complete response outside 2xx means if only its status is known (specification, section 7, and the field notes). On a refresh, 401 rejects
 * the refresh token, 400 says that it is unusable, and 403 rejects the client, so that the refresh token stays valid.
 */
export function failureOfStatus(exchange: Exchange, status: number): Failure {
  if (status === 429) return THROTTLED
  if (status === 511) return { ...SERVICE_FAILED, advice: 'this network requires a login' }
  if (status >= 500 && status <= 599) return SERVICE_FAILED
  if (status === 408 || status === 425) return UNFINISHED
  if (status === 400 || status === 401 || status === 403) {
    if (exchange === 'obtain') return { code: 'ERR_CREDENTIALS_REJECTED', outcome: 'rejected' }
    const refreshToken = status === 401 ? 'refused' : status === 400 ? 'unusable' : 'kept'
    return { code: 'ERR_REFRESH_REJECTED', outcome: 'rejected', refreshToken }
  }
  if (status >= 300 && status <= 499) return { code: 'ERR_TOKEN_REQUEST', outcome: 'rejected' }
  return { code: 'ERR_TOKEN_RESPONSE', outcome: 'unknown', advice: 'this is no HTTP status' }
}
