import { TokenError } from '../core/errors.ts'

/** The refusals that are about one resource, not about the login, with the statuses under which they are. */
const REFUSALS: ReadonlyMap<string | undefined, readonly (number | undefined)[]> = new Map([
  ['invalid_target', [400, 401, undefined]],
  ['invalid_resource', [400, 401, undefined]],
  ['invalid_scope', [400, undefined]],
  ['access_denied', [403]],
])

/** Whether the server refuses a resource, and neither the login nor the client (F420). */
export function isOfResource({
  serviceCode,
  status,
}: {
  readonly serviceCode?: string | undefined
  readonly status?: number | undefined
}): boolean {
  return REFUSALS.get(serviceCode)?.includes(status) === true
}

/** The refusal of a resource, as a failed exchange that leaves the refresh token alone. */
export function refusal(error: TokenError): TokenError {
  const { serviceCode, status } = error
  const message = `The service refused a token for this resource (${serviceCode}): check resource, audience and scope of forResource, and what the client may have`
  return new TokenError('ERR_TOKEN_REQUEST', message, {
    outcome: 'rejected',
    refreshToken: 'kept',
    serviceCode,
    status,
    cause: error,
  })
}
