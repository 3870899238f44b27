import type { AxiosAdapter, InternalAxiosRequestConfig } from 'axios'
import { parsedUrl } from '../core/secure-origin.ts'
import { concealRequest } from './concealment.ts'
import { addressOf, OriginScope } from './origin-scope.ts'
import { pageUrl } from '../client/origins.ts'
import { promised } from '../client/promised.ts'

/** Where redirects have led a request: within its origin, or away from it. A response from elsewhere says nothing about the token. */
export type RedirectTrail = 'within' | 'away'

/**
 * @param href Where a redirect leads. Empty for a response that was made by hand.
 * @param before Where earlier redirects have led.
 */
export function trailTo(config: InternalAxiosRequestConfig, href: string, before?: RedirectTrail): RedirectTrail {
  if (before === 'away') return before
  const leaves = href !== '' && parsedUrl(href, pageUrl())?.origin !== new OriginScope().originOf(config)
  return leaves ? 'away' : 'within'
}

/** @returns The trail of a request whose redirects XMLHttpRequest or fetch followed; undefined if there was no redirect. */
export function trailOf(config: InternalAxiosRequestConfig, request: unknown): RedirectTrail | undefined {
  const end = FINAL_URLS.get((config.fetchOptions as Marked | undefined)?.[MARK] ?? (request as object))
  const href = end ?? finalUrlOfXhr(config, request)
  return href === undefined ? undefined : trailTo(config, href)
}

/** XMLHttpRequest always follows redirects. Only the URL of the response shows that it did. */
function finalUrlOfXhr(config: InternalAxiosRequestConfig, request: unknown): string | undefined {
  const { responseURL } = (request ?? {}) as { responseURL?: unknown }
  // Only a double of a test, such as axios-mock-adapter, gives an address that is not absolute.
  if (typeof responseURL !== 'string' || !parsedUrl(responseURL)) return undefined
  return responseURL === addressOf(config) ? undefined : responseURL
}

type Fetch = typeof fetch
type Env = InternalAxiosRequestConfig['env']

/** Where the redirects of fetch ended. The key is its Request, or the mark in its options if axios makes no Request. */
const FINAL_URLS = new WeakMap<object, string>()
const MARK = Symbol('axios-evergreen.mark')
type Marked = Record<symbol, object | undefined>

/** @returns What axios chooses, but with a fetch that notes redirects, and whose requests hide the token when printed. */
export function observingRedirects(env: Env, choose: (env: object) => AxiosAdapter): AxiosAdapter {
  const given = env && Object.hasOwn(env, 'fetch') ? (env.fetch as Fetch | null | undefined) : undefined
  // Given by name, because axios would keep those of the first request. Test tools replace the globals for a while.
  const { Request, Response } = globalThis
  const telling = { Request, Response, ...env, fetch: observedFetch(given ?? platformFetch) }
  const adapter = choose(telling)
  if (typeof telling.Request === 'function') return adapter
  return (config) => {
    // The mark is no plain object, because axios would copy that.
    config.fetchOptions = { ...(config.fetchOptions as object | undefined), [MARK]: new WeakSet() } as object
    return adapter(config)
  }
}

/** Reads the global at each call, because test tools replace it. */
const platformFetch: Fetch = (...given) => fetch(...given)
/** Has no prototype, so that fetch takes no options from `Object.prototype`. */
const NO_OPTIONS = /* @__PURE__ */ Object.freeze(/* @__PURE__ */ Object.create(null)) as RequestInit
// One teller for each fetch, because axios makes and keeps an adapter for each fetch that it is given.
const observedFetches = new WeakMap<Fetch, Fetch>()

function observedFetch(inner: Fetch): Fetch {
  const known = observedFetches.get(inner)
  if (known) return known
  // Not an async function, which would make two promises more.
  const teller: Fetch = (request, options = NO_OPTIONS) => {
    concealRequest(request)
    return promised(() => inner(request, options)).then((response) => {
      if (response.redirected) FINAL_URLS.set((options as Marked)[MARK] ?? (request as Request), response.url)
      return response
    })
  }
  observedFetches.set(inner, teller)
  return teller
}
