import type { TokenErrorCode } from '../core/errors.ts'
import type { Exchange } from '../core/token-source.ts'
import { type Failure, failureOfStatus, SERVICE_FAILED, THROTTLED } from './failure.ts'

/** The meaning of an error for an obtain, for a refresh by a source that can obtain, and for the refresh of a login. */
type Meant = readonly [obtain: Failure, refresh: Failure, login: Failure]

const CREDENTIALS = /* @__PURE__ */ rejected('ERR_CREDENTIALS_REJECTED')
const REQUEST = /* @__PURE__ */ rejected('ERR_TOKEN_REQUEST')
const REFRESH = /* @__PURE__ */ rejected('ERR_REFRESH_REJECTED')
const REFUSED = /* @__PURE__ */ rejected('ERR_REFRESH_REJECTED', { refreshToken: 'refused' })

/** The service requires the user. A source that can obtain does so. Otherwise the login has ended, and nothing is suspicious. */
const INTERACTION: Meant = [
  CREDENTIALS,
  /* @__PURE__ */ rejected('ERR_REFRESH_REJECTED', { refreshToken: 'unusable' }),
  /* @__PURE__ */ rejected('ERR_REFRESH_REJECTED', { refreshToken: 'refused', loginReason: 'interaction' }),
]
/** Some servers report their own failures with 400. The manager retries as after a 5xx, but the refresh token was not used and stays valid. */
const UNAVAILABLE = /* @__PURE__ */ keeping(SERVICE_FAILED)

/**
 * The errors of the RFCs. If an error says nothing about the refresh token of a login, the manager keeps the token, and discards it if the service
 * returns the same error for ten minutes. Errors without a comment are those of RFC 6749, sections 4.1.2.1 and 5.2.
 */
const OAUTH_ERRORS: Partial<Record<string, Meant>> = /* @__PURE__ */ (() => ({
  invalid_grant: [CREDENTIALS, REFUSED, REFUSED],
  invalid_client: keeping(CREDENTIALS),
  invalid_request: aboutRequest(REQUEST, REQUEST),
  // These reject the kind of request. After a refresh, an obtain with the credentials may still succeed.
  unauthorized_client: aboutRequest(CREDENTIALS),
  unsupported_grant_type: aboutRequest(REQUEST),
  invalid_scope: aboutRequest(REQUEST),
  invalid_target: aboutRequest(REQUEST), // RFC 8707, section 2
  unsupported_token_type: aboutRequest(REQUEST), // RFC 7009, section 2.2.1
  temporarily_unavailable: UNAVAILABLE,
  server_error: UNAVAILABLE,
  use_dpop_nonce: UNAVAILABLE, // RFC 9449, section 8
  invalid_dpop_proof: keeping(REQUEST), // RFC 9449, section 5
  slow_down: keeping(THROTTLED), // RFC 8628, section 3.5
  // OpenID Connect Core, section 3.1.2.6
  interaction_required: INTERACTION,
  login_required: INTERACTION,
  consent_required: INTERACTION,
  account_selection_required: INTERACTION,
}))()

export function isOAuthError(code: unknown): code is string {
  return typeof code === 'string' && Object.hasOwn(OAUTH_ERRORS, code)
}

function rejected(code: TokenErrorCode, more?: Pick<Failure, 'refreshToken' | 'loginReason'>): Failure {
  return { code, outcome: 'rejected', ...more }
}

/** An error that leaves the refresh token valid. */
function keeping(failure: Failure): Meant {
  const kept: Failure = { ...failure, refreshToken: 'kept' }
  return [failure, kept, kept]
}

/** An error about the request. @param refresh The failure of a refresh by a source that can obtain. */
function aboutRequest(failure: Failure, refresh: Failure = REFRESH): Meant {
  return [failure, { ...refresh, refreshToken: 'kept' }, failure]
}

/**
 * What a response that rejects the request means. If its status rejects the request, the OAuth error in it is more specific than the status.
 *
 * @param needsLogin Only the user can obtain. Then no status alone ends the login, except the 401 of a custom source.
 */
export function failureOfResponse(
  exchange: Exchange,
  status: number,
  oauthError: string | undefined,
  needsLogin = false,
): Failure {
  const isOfLogin = needsLogin && exchange === 'refresh'
  const byStatus = failureOfStatus(exchange, status)
  const named = isOAuthError(oauthError) ? OAUTH_ERRORS[oauthError] : undefined
  if (byStatus.outcome === 'rejected' && named) return named[isOfLogin ? 2 : exchange === 'refresh' ? 1 : 0]
  return isOfLogin && byStatus.refreshToken !== 'refused' ? failureOfLogin(status) : byStatus
}

/** Servers other than that of the specification use 400 for any error, so it says nothing about the refresh token. */
function failureOfLogin(status: number): Failure {
  const failure = failureOfStatus('obtain', status)
  // With 425 and 503, the service has not processed the request (RFC 8470, section 5.2; RFC 9110, section 15.6.4). Neither has a redirect or a proxy.
  const isUntouched = [407, 425, 503].includes(status) || (status >= 300 && status <= 399)
  return isUntouched ? { ...failure, refreshToken: 'kept' } : failure
}
