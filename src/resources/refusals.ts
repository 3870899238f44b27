import { TokenError } from '../core/errors.ts'
import type { CoolDown } from '../core/lease.ts'

/** Servers reject a request with these. Undefined: a source of its own that names none. */
const REJECTS: readonly (number | undefined)[] = [200, 400, 401, 403, undefined]
/** The error codes that concern one resource and not the login, with the statuses for which they do. */
const REFUSALS: ReadonlyMap<string | undefined, typeof REJECTS> = new Map([
  ['invalid_target', REJECTS],
  ['invalid_resource', REJECTS],
  ['invalid_scope', REJECTS],
  ['access_denied', [403]],
])

/** Whether the server rejects a resource, but neither the login nor the client (F420). */
export function isOfResource({
  code,
  serviceCode,
  status,
}: Pick<CoolDown, 'code' | 'serviceCode' | 'status'>): boolean {
  const isDenied = serviceCode === 'access_denied' && code === 'ERR_TOKEN_REQUEST'
  return isDenied || REFUSALS.get(serviceCode)?.includes(status) === true
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
