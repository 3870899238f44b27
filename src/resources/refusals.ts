import { outcomeOf, TokenError } from '../core/errors.ts'
import type { CoolDown, Report } from '../core/lease.ts'
import { refreshTokenOutcomeOf } from '../core/plan.ts'
import { member } from '../core/thrown.ts'
import { RESPONSE_FINGERPRINT } from '../core/token-source.ts'

/**
 * Whether the service has rejected the request for a resource, and no error code names the refresh token, the client or the user. That judges the resource
 * alone (F420): what else it may mean, the exchanges of the login and of other resources show.
 */
export function isRefused(error: TokenError): boolean {
  const { code, loginReason, refreshToken, serviceCode } = error
  const isRejected = outcomeOf(error) === 'rejected' || isMarked(error)
  const isOfUser = code === 'ERR_LOGIN_REQUIRED' || loginReason !== undefined
  const isOfClient = code === 'ERR_CREDENTIALS_REJECTED' && serviceCode !== undefined
  const isOfToken = ['refused', 'unusable'].includes(refreshTokenOutcomeOf(error))
  // `invalid_scope` is a failure of the service to a login, which was granted its scopes (F427).
  const isOfScope = serviceCode === 'invalid_scope' && refreshToken === 'kept'
  return (isRejected || isOfScope) && !isOfUser && !isOfClient && !isOfToken
}

/** Whether `oauth2` found the response unclear. That includes a JSON document of status 2xx without a token. */
function isMarked(error: TokenError): boolean {
  return member(error, RESPONSE_FINGERPRINT) !== undefined
}

/** The rejection of a resource as an error that keeps the refresh token. */
export function refusal(error: TokenError): TokenError {
  const { serviceCode, status } = error
  const message = `The service issued no token for this resource (${serviceCode ?? status ?? 'no status'}): check resource, audience and scope of forResource, and what this client may request`
  return new TokenError('ERR_TOKEN_REQUEST', message, {
    outcome: 'rejected',
    refreshToken: 'kept',
    serviceCode,
    status,
    // The message of a marked error says that a login is required if the response stays the same. For a resource, none is.
    cause: isMarked(error) ? undefined : error,
  })
}

/** Whether only the resource cools down, and other managers of the login need not wait: this code is that of a request which is wrong in itself. */
export function isOfResource({ code }: Pick<CoolDown, 'code'>): boolean {
  return code === 'ERR_TOKEN_REQUEST'
}

/** By how much other managers of the login may probe the service earlier, ms. */
const LEAD_MS = 1_000

/** After a failure of the service, other managers of the login probe it first: it may fail for this resource alone. A pause that the service asked for stays. */
export function othersFirst(report: Report): Report {
  const { shared } = report
  if (shared?.kind !== 'cool-down' || shared.isFirm) return report
  return { ...report, shared: { ...shared, ms: shared.ms - LEAD_MS } }
}
