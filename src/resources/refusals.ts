import { TokenError } from '../core/errors.ts'

/** The error codes that concern one resource and not the login, with the statuses for which they do. */
const REFUSALS: ReadonlyMap<string | undefined, readonly (number | undefined)[]> = new Map([
  ['invalid_target', [400, 401, undefined]],
  ['invalid_resource', [400, 401, undefined]],
  ['invalid_scope', [400, undefined]],
  ['access_denied', [403]],
])

/** Whether the server rejects a resource, but neither the login nor the client (F420). */
export function isOfResource({
  serviceCode,
  status,
}: {
  readonly serviceCode?: string | undefined
  readonly status?: number | undefined
}): boolean {
  return REFUSALS.get(serviceCode)?.includes(status) === true
}

/** The rejection of a resource as an error that keeps the refresh token. */
export function refusal(error: TokenError): TokenError {
  const { serviceCode, status } = error
  const message = `The service rejected a token for this resource (${serviceCode}): check resource, audience and scope of forResource, and what it grants the client`
  return new TokenError('ERR_TOKEN_REQUEST', message, {
    outcome: 'rejected',
    refreshToken: 'kept',
    serviceCode,
    status,
    cause: error,
  })
}
