import { detailsOf, isTokenError, type LoginReason, TokenError, type TokenErrorDetails } from '../core/errors.ts'

/** @param failure The failure that ended the login, if the service responded with one. */
export function loginRequired(reason: LoginReason, failure: TokenErrorDetails = {}, why = WHY[reason]): TokenError {
  const { status, serviceCode } = detailsOf(failure)
  const message = `A login is required (${reason}: ${why}): call adopt() with its tokens`
  const cause = isTokenError(failure) ? failure : undefined
  return new TokenError('ERR_LOGIN_REQUIRED', message, { loginReason: reason, status, serviceCode, cause })
}

const WHY: Readonly<Record<LoginReason, string>> = {
  'none-yet': 'no user has logged in, or storeKey, prefix, account, clientId, scope, parameters or server changed',
  'logged-out': 'the user has logged out',
  refused: 'the service rejected the refresh token, or the API the access token',
  expired: 'the login has expired',
  'in-doubt': 'the service rejected the refresh token after a lost response',
  interaction: 'the service requires user interaction',
  lost: 'the token store has lost the login or its last refresh token, in a failover or a restore',
}
