import type { LoginEvents } from '../core/events.ts'
import { internalsOf, type ServeResource } from '../core/manager-internals.ts'
import type { TokenStatus } from '../core/status.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import type { ResourceOptions } from '../core/resource.ts'
import type { WaitOptions } from '../core/waiting-room.ts'

/** A request of a page for one resource. */
export interface ResourceRequest extends WaitOptions {
  readonly resource: ResourceOptions
  readonly refused?: string
  readonly challenge?: unknown
}

/** The response of the worker. `livesMs`: the remaining lifetime of the access token. */
export interface ResourceResponse {
  readonly token?: string | undefined
  readonly status: TokenStatus
  readonly livesMs: number
}

type Pages = Parameters<ServeResource>[3]

/** The pages that get the events of a resource. */
const served = new WeakMap<ResourceTokens, WeakSet<Pages>>()

/** @param open Opens a resource of the manager of this worker. */
export function serverOf(open: (tokens: ResourceTokens, options: ResourceOptions) => ResourceTokens): ServeResource {
  return async (given, name, tokens, pages): Promise<ResourceResponse> => {
    const { resource, ...request } = given as ResourceRequest
    const api = open(tokens, resource)
    notifyOf(api, pages)
    const token = await performed(api, name, request)
    return { token, ...stateOf(api) }
  }
}

async function performed(api: ResourceTokens, name: string, request: Omit<ResourceRequest, 'resource'>) {
  const { refused = '', challenge, ...options } = request
  const internals = internalsOf(api)
  switch (name) {
    case 'get':
      return api.getAccessToken(options)
    case 'replace':
      return api.replaceAccessToken(refused, options)
    case 'renew':
      await api.renew(options)
      break
    case 'settled':
      await api.settled()
      break
    case 'renewInBackground':
      internals?.renewInBackground(refused)
      break
    case 'challenged':
      internals?.challenged?.(challenge)
  }
  return undefined
}

function stateOf(api: ResourceTokens): Omit<ResourceResponse, 'token'> {
  const status = api.status()
  return { status, livesMs: (status.accessExpiresAt ?? 0) - (internalsOf(api)?.clock.wallNow() ?? 0) }
}

/** Events of a resource go to all pages, with its status. */
function notifyOf(api: ResourceTokens, pages: Pages): void {
  const known = served.get(api) ?? new WeakSet<Pages>()
  served.set(api, known)
  if (known.has(pages)) return
  known.add(pages)
  const notify = (name: keyof LoginEvents, event: object) => {
    // The manager of the login has already sent `loginChanged` to the pages.
    if (name !== 'loginChanged') pages.notify(name, { ...event, state: api.status() })
  }
  api.onAny(notify)
}
