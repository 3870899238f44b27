import type { TokenErrorCode } from './errors.ts'
import type { CoolDown } from './lease.ts'

/** The message for a caller if another owner of the record failed to renew. Only stores import it: without a store there is no other owner. */
export function failureOfOther({ code, status, by }: CoolDown): string {
  if (code === 'ERR_STORE_UNAVAILABLE') return LOST_WRITES
  const response = status === undefined ? '' : ` (the service responded with ${status})`
  const shared = by === undefined ? '' : '. This process has the same credentials'
  return `Another owner of this account failed to renew: ${CAUSES[code]}${response}${shared}`
}

/** The message of `ERR_STORE_UNAVAILABLE`, the code of the cool-down of a record that may have lost writes. */
const LOST_WRITES =
  'The shared token store has lost writes (a failover, or a restored copy): its refresh token may be spent. The manager waits to let the other processes ' +
  'write back what they have'

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
  ERR_TOKEN_SOURCE: 'its token source is broken; see the error of that process',
}
