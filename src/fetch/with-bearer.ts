import { UnauthenticatedRequests } from '../client/unauthenticated-requests.ts'
import { type BearerOptions, type BearerSettings, bearerSettings } from '../client/bearer-options.ts'
import { originBindingOf } from '../client/origin-binding.ts'
import { deliver } from '../client/bearer-request.ts'
import { grantedOrigins } from '../client/origins.ts'
import { promised } from '../client/promised.ts'
import { accessTo, checkManager } from '../client/token-access.ts'
import { checkedFlag, checkFunction } from '../core/option-checks.ts'
import { foreignSocket } from '../core/foreign-socket.ts'
import type { TokenManager } from '../core/token-manager.ts'
import { type Given, headerIn, type Input, inputOf, takesHeaders, urlOf, withLastingHeaders } from './call.ts'
import { snapshotCall, removeHeader } from './call-snapshot.ts'
import { FetchRequest } from './sending.ts'

/** Where a request leads: its absolute address, and the origin of that. */
type Target = Pick<URL, 'origin'> & { readonly url: string }

/**
 * Gives every request to an allowed origin a fresh token, and replays a request once, with the same bytes, if the API refuses its token. If a token
 * is at hand, `fetch` is called synchronously. If no token can be had, the request is not sent and rejects with a `TokenError`; an abort by the
 * caller's own `signal` rejects with its reason. Keeps all members of `init`. Requests that carry the header (without `overwrite`), or have the mode `no-cors` or
 * `navigate`, are left alone. Streams and `keepalive` requests are not replayed.
 *
 * @example
 * ```ts
 * import { withBearer } from 'axios-evergreen/fetch'
 *
 * const api = withBearer(fetch, tokens, { origins: ['https://payments.example.com'] })
 * await api('https://payments.example.com/wallet') // carries a fresh token
 * ```
 * @returns A fetch. It never throws synchronously.
 * @throws {TypeError} naming the option; when no origin is known.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every fetch has its own types of input and init
export function withBearer<Fetch extends (input: any, init?: any) => Promise<Response>>(
  fetch: Fetch,
  tokens: TokenManager,
  options: BearerOptions = {},
): Fetch {
  checkFunction('fetch', fetch)
  checkManager(tokens)
  const settings: BearerSettings<Response> = bearerSettings('withBearer', options, { overwrite: checkedFlag })
  const access = accessTo(tokens)
  const origins = grantedOrigins(settings, { name: 'The page' }, access.origin, 'pass origins')
  const binding = originBindingOf(settings, access)
  const bare = new UnauthenticatedRequests()
  const targetOf = readerOf(origins)

  /** @returns Where the request leads, if it may have the token. */
  function grantedTarget(input: Input, init: Given): Target | undefined {
    const target = targetOf(input)
    if (!target || !takesHeaders(input, init)) return undefined
    const { origin } = target
    const own = headerIn(input, init, binding.name)
    const isAllowed = origins.includes(origin)
    if (isAllowed && (own === null || settings.overwrite)) return target
    if (isAllowed) bare.reportLeftover(own, binding)
    if (own !== null) return undefined
    bare.tell(origin === 'null' ? 'an address without an origin' : origin, origins, [access])
    return undefined
  }

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

/** @returns A reader of addresses. One that begins with an allowed origin needs no parser. */
function readerOf(origins: readonly string[]): (input: Input) => Target | undefined {
  const known = origins.map((origin) => ({ origin, start: `${origin}/` }))
  return (input) => {
    const found = typeof input === 'string' ? known.find(({ start }) => input.startsWith(start)) : undefined
    if (found) return { url: input as string, origin: found.origin }
    const url = urlOf(input)
    // Without a URL, or with a user in it, fetch refuses the request and says why.
    return url && !url.username && !url.password ? { url: url.href, origin: url.origin } : undefined
  }
}
