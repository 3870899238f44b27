import type { TokenErrorCode } from './errors.ts'
import type { CoolDown } from './token-store.ts'

/** What a caller reads if another owner of the record has failed to renew. Stores bring it: without a store there is no other owner. */
export function failureOfOther({ code, status, by }: CoolDown): string {
  if (code === 'ERR_STORE_UNAVAILABLE') return LOST_WRITES
  const answered = status === undefined ? '' : ` (the service answered ${status})`
  const whose = by === undefined ? '' : '. They are those of this process, too'
  return `Another owner of this account failed to renew: ${MET[code]}${answered}${whose}`
}

/** The cool-down of a record that may have lost writes has this code. */
const LOST_WRITES =
  'The shared token store has lost writes (a failover, or a restored copy): its refresh token may be spent. The manager waits until the other processes ' +
  'had time to write back what they have'

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
