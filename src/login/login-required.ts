import { type LoginReason, TokenError } from '../core/errors.ts'

/** @param failure The response of the service, if that ended the login. */
export function loginRequired(
  reason: LoginReason,
  { status, serviceCode }: { readonly status?: number; readonly serviceCode?: string } = {},
  why = WHY[reason],
): TokenError {
  const message = `A login is required (${reason}: ${why}): call adopt() with its tokens`
  return new TokenError('ERR_LOGIN_REQUIRED', message, { loginReason: reason, status, serviceCode })
}

const WHY: Readonly<Record<LoginReason, string>> = {
  'none-yet': 'nobody has logged in, or the login is under another account, storeKey or prefix',
  'logged-out': 'the person has logged out',
  refused: 'the service refused the refresh token, or the access token',
  expired: 'the login has expired',
  'in-doubt': 'the service refused a refresh token after a token call whose answer was lost',
  interaction: 'the service asks for the person',
  lost: 'the token store has lost the login or its last refresh token, in a failover or by a restored copy',
}
