import { TokenError, type TokenErrorCode } from '../core/errors.ts'
import type { CoolDown, Lease } from '../core/lease.ts'
import type { Turn } from '../core/token-store.ts'

/**
 * The error for callers while the record cools down, because another owner failed to renew (F224). Only stores import this module: without a store there is no
 * other owner.
 */
export function failureOfOther(
  coolDown: CoolDown,
  login: Pick<NonNullable<Turn['account']['login']>, 'errorOfLoss'> | undefined,
  own?: TokenError,
): TokenError {
  const { code, loginReason = 'refused' } = coolDown
  if (login && code === 'ERR_LOGIN_REQUIRED') {
    // If this manager was the one that failed, its own error says more than the record (F409).
    const isOwn = own?.code === code && own.loginReason === loginReason
    return isOwn ? own : login.errorOfLoss(loginReason, coolDown)
  }
  return new TokenError(code, messageOf(coolDown), coolDown)
}

/** Replaces `ERR_LOGIN_REQUIRED` while the store is unavailable: without it, a process cannot see whether a user has logged in elsewhere. */
export function errorIfPrivate({ isPrivate }: Pick<Lease, 'isPrivate'>, error: TokenError): TokenError {
  if (!isPrivate || error.code !== 'ERR_LOGIN_REQUIRED') return error
  const message = 'The shared token store is unavailable, and only the store may hold the tokens of a login'
  return new TokenError('ERR_STORE_UNAVAILABLE', message, { outcome: 'not-sent' })
}

function messageOf({ code, status, by }: CoolDown): string {
  if (code === 'ERR_STORE_UNAVAILABLE') return LOST_WRITES
  const response = status === undefined ? '' : ` (the service responded with ${status})`
  const shared = by === undefined ? '' : '. This process has the same credentials'
  return `Another owner of this account failed to renew: ${CAUSES[code]}${response}${shared}`
}

/** The message of `ERR_STORE_UNAVAILABLE`, the code of the cool-down of a record that may have lost writes. */
const LOST_WRITES =
  'The shared token store has lost writes, in a failover or a restore: its refresh token may be spent. Another process may still write back a newer one'

/** Why another owner failed, and what to do. */
const CAUSES: Readonly<Record<TokenErrorCode, string>> = {
  ERR_CREDENTIALS_REJECTED: 'the service rejected the credentials; check them',
  ERR_REFRESH_REJECTED: 'the service rejected the refresh token',
  ERR_SUSPICIOUS_REFRESH_TOKEN:
    'the service unexpectedly rejected a refresh token; all owners stop until reset() or adopt()',
  ERR_THROTTLED: 'the service throttles token requests',
  ERR_TOKEN_SERVICE_UNAVAILABLE: 'the token service was unreachable or failed',
  ERR_TOKEN_REQUEST: 'the service rejected the token request; check its address and parameters',
  ERR_TOKEN_RESPONSE: 'the response of the token service was unusable',
  ERR_SIGNATURE: 'the signature of the response was missing or wrong; check the password',
  ERR_WAIT_TIMEOUT: 'no response arrived in time',
  ERR_REPLACED_TOO_SOON: 'the API rejects access tokens too fast',
  ERR_STORE_UNAVAILABLE: 'its token store was unreachable',
  ERR_CLOSED: 'its manager was closed',
  ERR_LOGIN_REQUIRED: 'a login is required; call adopt() with its tokens',
  ERR_LOGIN_REPLACED: 'another login took its place',
  ERR_TOKEN_SOURCE: 'its token source is broken; see the error of that process',
}
