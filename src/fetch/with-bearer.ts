import { UnauthenticatedRequests } from '../client/unauthenticated-requests.ts'
import { type BearerOptions, type BearerSettings, bearerSettings } from '../client/bearer-options.ts'
import { type OriginBinding, originBindingOf } from '../client/origin-binding.ts'
import { deliver } from '../client/bearer-request.ts'
import { grantedOrigins } from '../client/origins.ts'
import { promised } from '../client/promised.ts'
import { accessTo, checkManager } from '../client/token-access.ts'
import { checkedFlag, checkFunction } from '../core/option-checks.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import type { ResourceTokens } from '../core/token-manager.ts'
import { type Given, headerIn, type Input, inputOf, takesHeaders, urlOf, withLastingHeaders } from './call.ts'
import { snapshotCall, removeHeader } from './call-snapshot.ts'
import { FetchRequest } from './sending.ts'

/** The target of a request: its absolute address and its origin. */
type Target = Pick<URL, 'origin'> & { readonly url: string }

/**
 * Adds a fresh token to every request to an allowed origin, and replays a request once, with the same bytes, if the API rejects its token. If a token is
 * available, `fetch` is called synchronously. If there is no token, the request is not sent and rejects with a `TokenError`. An abort by the caller's
 * own `signal` rejects with its reason. All members of `init` are kept. Requests that already have the header (without `overwrite`), or have the mode
 * `no-cors` or `navigate`, are sent unchanged. Streams and `keepalive` requests are not replayed.
 *
 * @example
 * ```ts
 * import { withBearer } from 'axios-evergreen/fetch'
 *
 * const api = withBearer(fetch, tokens, { origins: ['https://payments.example.com'] })
 * await api('https://payments.example.com/wallet') // carries a fresh token
 * ```
 * @returns A fetch function, which never throws synchronously.
 * @throws {TypeError} naming the option; if no origin is known.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every fetch has its own types of input and init
export function withBearer<Fetch extends (input: any, init?: any) => Promise<Response>>(
  fetch: Fetch,
  tokens: ResourceTokens,
  options: BearerOptions = {},
): Fetch {
  checkFunction('fetch', fetch)
  checkManager(tokens)
  const settings: BearerSettings<Response> = bearerSettings('withBearer', options, { overwrite: checkedFlag })
  const access = accessTo(tokens)
  const origins = grantedOrigins(settings, { name: 'The page' }, access.origin, 'pass origins')
  const binding = originBindingOf(settings, access)
  const grantedTarget = targetReader(origins, binding, settings.overwrite)

  const wrapped = (given: unknown, options?: Given): Promise<Response> => {
    try {
      const input = inputOf(given)
      const init = withLastingHeaders(options)
      const target = grantedTarget(input, init)
      if (!target) return Promise.resolve(fetch(given, init))
      const socket = foreignSocket()
      if (socket !== undefined) throw new TypeError(socket)
      const call = snapshotCall(input, target.url, init)
      if (settings.overwrite) removeHeader(call, binding.name)
      return deliver(new FetchRequest(fetch, binding, target.origin, call))
    } catch (error) {
      return promised(() => {
        throw error
      })
    }
  }
  return Object.assign(wrapped, fetch)
}

/** @returns A function that returns the target of a request, or undefined if the request is sent without our token. It reports mistakes. */
function targetReader(origins: readonly string[], binding: OriginBinding<Response>, overwrites = false) {
  const bare = new UnauthenticatedRequests()
  const targetOf = readerOf(origins)
  return (input: Input, init: Given): Target | undefined => {
    const target = targetOf(input)
    if (!target || !takesHeaders(input, init)) return undefined
    const { origin } = target
    const own = headerIn(input, init, binding.name)
    const isAllowed = origins.includes(origin)
    if (isAllowed && (own === null || overwrites)) return target
    if (isAllowed) bare.reportLeftover(own, binding)
    if (own !== null) return undefined
    bare.reportOrigin(origin === 'null' ? 'an address without an origin' : origin, origins, [binding.access])
    return undefined
  }
}

/** @returns A function that returns the target of a request. An address that begins with an allowed origin needs no parsing. */
function readerOf(origins: readonly string[]): (input: Input) => Target | undefined {
  const known = origins.map((origin) => ({ origin, start: `${origin}/` }))
  return (input) => {
    const found = typeof input === 'string' ? known.find(({ start }) => input.startsWith(start)) : undefined
    if (found) return { url: input as string, origin: found.origin }
    const url = urlOf(input)
    // fetch rejects an invalid URL, and a URL with credentials, with its own error.
    return url && !url.username && !url.password ? { url: url.href, origin: url.origin } : undefined
  }
}
