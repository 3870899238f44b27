import { TokenError } from '../core/errors.ts'
import type { CoolDown } from '../core/lease.ts'

/** The statuses with which servers reject a resource. Undefined: the error of a custom source may have no status. */
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
  const message = `The service issued no token for this resource (${serviceCode}): check resource, audience and scope of forResource, and what this client may request`
  return new TokenError('ERR_TOKEN_REQUEST', message, {
    outcome: 'rejected',
    refreshToken: 'kept',
    serviceCode,
    status,
    cause: error,
  })
}
