import type { ResourceOptions } from '../core/resource.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import { openResource } from '../resources/open-resource.ts'
import { ResourceRequests } from './resource-requests.ts'

/**
 * Keeps an access token for one API in addition to the login's own, for servers that issue each access token for one API (`resource` of RFC 8707, `audience`, or
 * only another `scope`). All tokens of a login share its refresh token and its lease, so a single-use refresh token is presented once, whichever API needs a
 * token. They all end with the login. With client credentials, each resource has its own token and record.
 *
 * The result has no `adopt`, `logout` or `reset`: call those of the login's manager. `status()` and events have the member `resource`. `close()` closes
 * only this resource. Two calls with the same resource, audience and scope return the same object.
 *
 * @example
 * ```ts
 * import axios from 'axios'
 * import { attachBearer, createTokenManager } from 'axios-evergreen'
 * import { forResource, oauth2 } from 'axios-evergreen/oauth2'
 *
 * const login = createTokenManager({ source: oauth2({ issuer: 'https://id.example.com', clientId: 'shop', grant: 'login' }) })
 * const orders = axios.create({ baseURL: 'https://orders.example.com' })
 * attachBearer(orders, forResource(login, { resource: 'https://orders.example.com', scope: 'orders:read' }))
 * ```
 * @param tokens The manager of the login; in a page also the result of `connectTokens`, if the worker calls `forResource`, too.
 * @throws {TypeError} The options name no API, or `resource` is not a URI; the source of `tokens` does not support resources; `tokens` itself is the result of
 * `forResource`.
 */
export function forResource(tokens: ResourceTokens, options: ResourceOptions): ResourceTokens {
  return openResource(tokens, options, (resource) => new ResourceRequests(resource))
}
