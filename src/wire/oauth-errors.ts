import type { ExchangeOutcome, TokenErrorCode } from '../core/errors.ts'
import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus } from './failure.ts'

/** What each error of RFC 6749, section 5.2, means. On a refresh it also says what became of the refresh token. */
const OAUTH_ERRORS: Partial<Record<string, Record<Exchange, Failure>>> = {
  invalid_grant: {
    obtain: rejected('ERR_CREDENTIALS_REJECTED'),
    refresh: { ...rejected('ERR_REFRESH_REJECTED'), refreshToken: 'refused' },
  },
  invalid_client: keeping('ERR_CREDENTIALS_REJECTED', 'ERR_CREDENTIALS_REJECTED'),
  invalid_request: keeping('ERR_TOKEN_REQUEST', 'ERR_TOKEN_REQUEST'),
  // These refuse the kind of request. After a refresh, an obtain with the credentials may still succeed.
  unauthorized_client: keeping('ERR_CREDENTIALS_REJECTED', 'ERR_REFRESH_REJECTED'),
  unsupported_grant_type: keeping('ERR_TOKEN_REQUEST', 'ERR_REFRESH_REJECTED'),
  invalid_scope: keeping('ERR_TOKEN_REQUEST', 'ERR_REFRESH_REJECTED'),
  // From RFC 8707, section 2.
  invalid_target: keeping('ERR_TOKEN_REQUEST', 'ERR_REFRESH_REJECTED'),
}

export function isOAuthError(word: unknown): word is string {
  return typeof word === 'string' && Object.hasOwn(OAUTH_ERRORS, word)
}

function rejected(code: TokenErrorCode): { code: TokenErrorCode; outcome: ExchangeOutcome } {
  return { code, outcome: 'rejected' }
}

/** An error that leaves the refresh token good. */
function keeping(obtain: TokenErrorCode, refresh: TokenErrorCode): Record<Exchange, Failure> {
  return { obtain: rejected(obtain), refresh: { ...rejected(refresh), refreshToken: 'kept' } }
}

/** What an answer that refuses means. If its status refuses the request, the OAuth error in it says more than the status. */
export function failureOfAnswer(exchange: Exchange, status: number, oauthError: string | undefined): Failure {
  const byStatus = failureOfStatus(exchange, status)
  const named = oauthError === undefined ? undefined : OAUTH_ERRORS[oauthError]
  return byStatus.outcome === 'rejected' && named ? named[exchange] : byStatus
}
