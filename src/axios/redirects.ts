import type { AxiosAdapter, InternalAxiosRequestConfig } from 'axios'
import { parsedUrl } from '../core/secure-origin.ts'
import { concealRequest } from './concealment.ts'
import { addressOf, OriginScope } from './origin-scope.ts'
import { pageUrl } from '../client/origins.ts'
import { promised } from '../client/promised.ts'

/** Where redirects have led a request: within its origin, or away from it. A response from another origin says nothing about the token. */
export type RedirectTrail = 'within' | 'away'

/**
 * @param href The target of a redirect. Empty for a response that was constructed by hand.
 * @param before The trail of earlier redirects.
 */
export function trailTo(config: InternalAxiosRequestConfig, href: string, before?: RedirectTrail): RedirectTrail {
  if (before === 'away') return before
  const leaves = href !== '' && parsedUrl(href, pageUrl())?.origin !== new OriginScope().originOf(config)
  return leaves ? 'away' : 'within'
}

/** @returns The trail of a request whose redirects XMLHttpRequest or fetch has followed; undefined if there was no redirect. */
export function trailOf(config: InternalAxiosRequestConfig, request: unknown): RedirectTrail | undefined {
  const end = FINAL_URLS.get((config.fetchOptions as Marked | undefined)?.[MARKER] ?? (request as object))
  const href = end ?? finalUrlOfXhr(config, request)
  return href === undefined ? undefined : trailTo(config, href)
}

/** XMLHttpRequest always follows redirects. Only the URL of the response shows a redirect. */
function finalUrlOfXhr(config: InternalAxiosRequestConfig, request: unknown): string | undefined {
  const { responseURL } = (request ?? {}) as { responseURL?: unknown }
  // Only a test double, such as axios-mock-adapter, has an address that is not absolute.
  if (typeof responseURL !== 'string' || !parsedUrl(responseURL)) return undefined
  return responseURL === addressOf(config) ? undefined : responseURL
}

type Fetch = typeof fetch
type Env = InternalAxiosRequestConfig['env']

/** Where the redirects of fetch ended. Keyed by its Request, or by the marker in its options if axios creates no Request. */
const FINAL_URLS = new WeakMap<object, string>()
const MARKER = Symbol('axios-evergreen.marker')
type Marked = Record<symbol, object | undefined>

/** @returns The adapter that axios chooses, with a fetch that notes redirects and whose requests hide the token when printed. */
export function observingRedirects(env: Env, choose: (env: object) => AxiosAdapter): AxiosAdapter {
  const given = env && Object.hasOwn(env, 'fetch') ? (env.fetch as Fetch | null | undefined) : undefined
  // Passed explicitly, because axios would keep those of the first request, and test tools replace the globals for a while.
  const { Request, Response } = globalThis
  const observing = { Request, Response, ...env, fetch: observedFetch(given ?? platformFetch) }
  const adapter = choose(observing)
  if (typeof observing.Request === 'function') return adapter
  return (config) => {
    // The marker is not a plain object, because axios would copy a plain object.
    config.fetchOptions = { ...(config.fetchOptions as object | undefined), [MARKER]: new WeakSet() } as object
    return adapter(config)
  }
}

/** Reads the global on each call, because test tools replace it. */
const platformFetch: Fetch = (...given) => fetch(...given)
/** Without a prototype, so that fetch takes no options from `Object.prototype`. */
const NO_OPTIONS = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null)) as RequestInit
// One wrapper per fetch, because axios creates and keeps an adapter per fetch.
const observedFetches = new WeakMap<Fetch, Fetch>()

function observedFetch(inner: Fetch): Fetch {
  const known = observedFetches.get(inner)
  if (known) return known
  // Not an async function, which would create two more promises.
  const observed: Fetch = (request, options = NO_OPTIONS) => {
    concealRequest(request)
    return promised(() => inner(request, options)).then((response) => {
      if (response.redirected) FINAL_URLS.set((options as Marked)[MARKER] ?? (request as Request), response.url)
      return response
    })
  }
  observedFetches.set(inner, observed)
  return observed
}
