import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios'
import { concealRequest, deleteHeader } from './concealment.ts'
import { OriginScope } from './origin-scope.ts'

/**
 * Where redirects led one request. It has strayed when what is sent next is another request, or has no token: a 401 to that says
 * nothing of the token. An API that answers a POST with 303 has acted, and must not get it again for what the GET that follows is
 * answered.
 */
export interface Journey {
  hasStrayed: boolean
}

/**
 * Watches the redirects of one request: takes its token off where they leave its origin. axios older than 1.21 lets it go on to a
 * sub-domain, and from http to https; any axios lets it go where the caller's `Host` header leads. The fetch adapter has no use for
 * this: fetch keeps to origins.
 */
export function watchingRedirects(
  config: InternalAxiosRequestConfig,
  header: string,
  journey: Journey,
): NonNullable<InternalAxiosRequestConfig['beforeRedirect']> {
  const { beforeRedirect, method = 'get' } = config
  return (options, ...details) => {
    const next = options as { href: string; headers: object; method: string }
    const leavesOrigin = new URL(next.href).origin !== new OriginScope().originOf(config)
    if (leavesOrigin) deleteHeader(next.headers, header)
    if (leavesOrigin || next.method.toUpperCase() !== method.toUpperCase()) journey.hasStrayed = true
    beforeRedirect?.(options, ...details)
  }
}

export function hasStrayed(journey: Journey, { request }: AxiosResponse<unknown>): boolean {
  return journey.hasStrayed || strayed.has(request as object)
}

type Fetch = typeof fetch

/** What fetch was given, where it strayed. */
const strayed = new WeakSet<object>()

/** What axios chooses its adapter by: the same, but that its fetch tells of redirects, and of no token where it is printed. */
export function tellingRedirects({ env }: InternalAxiosRequestConfig): Pick<InternalAxiosRequestConfig, 'env'> {
  return { env: { ...env, fetch: telling(env?.fetch) } }
}

// One for each fetch: axios makes an adapter of each, and keeps it.
const tellers = new WeakMap<Fetch, Fetch>()
/** The platform's, looked up at each call: tools for tests put another in its place. */
const platformFetch: Fetch = (...given) => fetch(...given)

function telling(inner: Fetch = platformFetch): Fetch {
  const known = tellers.get(inner)
  if (known) return known
  const teller: Fetch = async (...given) => {
    const [request] = given
    if (typeof request !== 'object' || !('method' in request)) return inner(...given)
    concealRequest(request)
    const response = await inner(...given)
    if (leavesRequest(request, response)) strayed.add(request)
    return response
  }
  tellers.set(inner, teller)
  return teller
}

/** Fetch does not tell whether it made a GET of the request: one with another method is taken for it. */
function leavesRequest({ method, url }: Request, response: Response): boolean {
  if (!response.redirected) return false
  return !['GET', 'HEAD'].includes(method) || new URL(response.url).origin !== new URL(url).origin
}
