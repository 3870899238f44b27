import type { AxiosAdapter, InternalAxiosRequestConfig } from 'axios'
import { parsedUrl } from '../core/secure-origin.ts'
import { concealRequest } from './concealment.ts'
import { deleteHeader } from './header-names.ts'
import { addressOf, OriginScope } from './origin-scope.ts'
import { pageUrl } from './page.ts'

/** Where redirects have led one request that has a token. */
export class Journey {
  readonly #config: InternalAxiosRequestConfig
  /** To another origin, without the token: a 401 from there says nothing of it. */
  hasLeft = false
  /** The API has acted on a POST that it answers with 303: it must not get it again for what the GET that follows is answered. */
  mayHaveActed = false

  constructor(config: InternalAxiosRequestConfig) {
    this.#config = config
  }

  /**
   * Before axios' http adapter follows one. Takes the token off where it leaves its origin: axios older than 1.21 lets it go on to a
   * sub-domain, and from http to https; any axios lets it go where the caller's `Host` header leads. Fetch keeps to origins by itself.
   */
  before(redirect: object, header: string): void {
    const { href, headers, method } = redirect as { href: string; headers: object; method: string }
    this.#goOn(href, method)
    if (this.hasLeft) deleteHeader(headers, header)
  }

  /** @returns The journey of a request that the browser, or fetch, has sent on. Neither tells whether it made a GET of it. */
  static ofEnd(config: InternalAxiosRequestConfig, request: unknown): Journey | undefined {
    const end = ENDS.get((config.fetchOptions as Marked | undefined)?.[MARK] ?? (request as object))
    const href = end ?? endOfXhr(config, request)
    if (href === undefined) return undefined
    const journey = new Journey(config)
    journey.#goOn(href)
    return journey
  }

  #goOn(href: string, method?: string): void {
    const { method: own = 'get' } = this.#config
    const isSafe = /^(get|head)$/i.test(own)
    if (method === undefined ? !isSafe : method.toLowerCase() !== own.toLowerCase()) this.mayHaveActed = true
    // A response that somebody made by hand has no URL.
    if (href !== '' && parsedUrl(href, pageUrl())?.origin !== new OriginScope().originOf(this.#config))
      this.hasLeft = true
  }
}

/** XMLHttpRequest follows redirects unasked, and tells of none but by where it has ended. */
function endOfXhr(config: InternalAxiosRequestConfig, request: unknown): string | undefined {
  const { responseURL } = (request ?? {}) as { responseURL?: unknown }
  if (typeof responseURL !== 'string' || responseURL === '') return undefined
  return responseURL === addressOf(config) ? undefined : responseURL
}

type Fetch = typeof fetch
type Env = InternalAxiosRequestConfig['env']

/** Where fetch's redirects ended: by its Request, or by the mark in its options where axios makes no Request. */
const ENDS = new WeakMap<object, string>()
const MARK = Symbol('axios-evergreen.mark')
type Marked = Record<symbol, object | undefined>

/** What axios chooses: the same, but that its fetch tells of redirects, and of no token where it is printed. */
export function tellingRedirects(env: Env, choose: (env: object) => AxiosAdapter): AxiosAdapter {
  const given = env && Object.hasOwn(env, 'fetch') ? (env.fetch as Fetch | null | undefined) : undefined
  // Named, because axios would keep those of the first request, and tools for tests put others in their place for a while.
  const { Request, Response } = globalThis
  const telling = { Request, Response, ...env, fetch: tellerOf(given ?? platformFetch) }
  const adapter = choose(telling)
  if (typeof telling.Request === 'function') return adapter
  return (config) => {
    // No plain object: axios would copy that.
    config.fetchOptions = { ...(config.fetchOptions as object | undefined), [MARK]: new WeakSet() } as object
    return adapter(config)
  }
}

/** The platform's, looked up at each call: tools for tests put another in its place. */
const platformFetch: Fetch = (...given) => fetch(...given)
/** Without any, fetch would take those that somebody put on `Object.prototype`. */
const NO_OPTIONS = Object.freeze(Object.create(null)) as RequestInit
// One for each fetch: axios makes an adapter of each, and keeps it.
const tellers = new WeakMap<Fetch, Fetch>()

function tellerOf(inner: Fetch): Fetch {
  const known = tellers.get(inner)
  if (known) return known
  const teller: Fetch = async (request, options = NO_OPTIONS) => {
    concealRequest(request)
    const response = await inner(request, options)
    if (response.redirected) ENDS.set((options as Marked)[MARK] ?? (request as Request), response.url)
    return response
  }
  tellers.set(inner, teller)
  return teller
}
