import { type LoginReason, TokenError, type TokenErrorCode } from './errors.ts'
import type { CoolDown, GrantedClaim } from './token-store.ts'

/** The error for callers while the record cools down. The failure may be one of another owner (F224). */
export function coolingError(coolDown: CoolDown): TokenError {
  const { code, loginReason = 'refused' } = coolDown
  const message =
    code === 'ERR_LOGIN_REQUIRED'
      ? loginMessage(loginReason)
      : code === 'ERR_STORE_UNAVAILABLE'
        ? LOST_WRITES
        : metByOther(coolDown)
  return new TokenError(code, message, coolDown)
}

const LOST_WRITES =
  'The shared token store has lost writes (a failover, or a restored copy): its refresh token may be spent. The manager waits until the other processes ' +
  'had time to write back what they have'

function metByOther({ code, status, by }: CoolDown): string {
  const answered = status === undefined ? '' : ` (the service answered ${status})`
  const whose = by === undefined ? '' : '. They are those of this process, too'
  return `Another owner of this account failed to renew: ${MET[code]}${answered}${whose}`
}

/** What another owner met, and what to do about it. */
const MET: Readonly<Record<TokenErrorCode, string>> = {
  ERR_CREDENTIALS_REJECTED: 'the service refused the credentials; check them',
  ERR_REFRESH_REJECTED: 'the service refused the refresh token',
  ERR_SUSPICIOUS_REFRESH_TOKEN: 'a refresh token was refused before its time; all owners stop until reset() or adopt()',
  ERR_THROTTLED: 'the service throttles token calls',
  ERR_TOKEN_SERVICE_UNAVAILABLE: 'the token service could not be reached, or failed',
  ERR_TOKEN_REQUEST: 'the service did not take the token call; check its address and parameters',
  ERR_TOKEN_RESPONSE: 'the answer of the token service could not be used',
  ERR_SIGNATURE: 'the signature of the answer was missing or wrong; check the password',
  ERR_WAIT_TIMEOUT: 'no answer came in time',
  ERR_REPLACED_TOO_SOON: 'the API refuses access tokens too fast',
  ERR_STORE_UNAVAILABLE: 'its token store could not be reached',
  ERR_CLOSED: 'its manager was closed',
  ERR_LOGIN_REQUIRED: 'a login is required; call adopt() with its tokens',
  ERR_TOKEN_SOURCE: 'its token source is broken; see the error of that process',
}

/** @param failure The answer of the service, if that ended the login. */
export function loginRequired(
  reason: LoginReason,
  { status, serviceCode }: Partial<TokenError> = {},
  why?: string,
): TokenError {
  return new TokenError('ERR_LOGIN_REQUIRED', loginMessage(reason, why), { loginReason: reason, status, serviceCode })
}

/** Without its store a process cannot see whether somebody has logged in elsewhere: the store is missing, not the login. */
export function errorIfPrivate({ isPrivate }: GrantedClaim, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

function loginMessage(reason: LoginReason, why = WHY[reason]): string {
  return `A login is required (${reason}: ${why}): call adopt() with its tokens`
}

const WHY: Readonly<Record<LoginReason, string>> = {
  'none-yet': 'nobody has logged in',
  'logged-out': 'the person has logged out',
  refused: 'the service refused the refresh token, or the access token',
  expired: 'the login has expired',
  'in-doubt': 'the service refused a refresh token after a token call whose answer was lost',
  interaction: 'the service asks for the person',
  lost: 'the token store has lost the login',
}
