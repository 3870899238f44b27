import type { InternalAxiosRequestConfig } from 'axios'
import { concealRequest, deleteHeader } from './concealment.ts'
import { memberOf } from './member-of.ts'
import { OriginScope } from './origin-scope.ts'

/** Carries a journey to fetch: what stands in `fetchOptions` gets there. */
const JOURNEY = Symbol('axios-evergreen.journey')

/** Where redirects lead one request that has a token. */
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
   * For axios' http adapter. Takes the token off where it leaves its origin: axios older than 1.21 lets it go on to a sub-domain, and
   * from http to https; any axios lets it go where the caller's `Host` header leads. Fetch keeps to origins by itself.
   */
  beforeRedirect(header: string): NonNullable<InternalAxiosRequestConfig['beforeRedirect']> {
    const { beforeRedirect } = this.#config
    return (options, ...details) => {
      const { href, headers, method } = options as { href: string; headers: object; method: string }
      this.#goOn(href, method)
      if (this.hasLeft) deleteHeader(headers, header)
      beforeRedirect?.(options, ...details)
    }
  }

  /** For axios' fetch adapter, if it was chosen by `tellingRedirects`. */
  fetchOptions(redirect: 'manual' | undefined): Record<string, unknown> {
    const given = this.#config.fetchOptions as object | undefined
    if (given === undefined && redirect === undefined) return { [JOURNEY]: this }
    return { ...given, ...(redirect && { redirect }), [JOURNEY]: this }
  }

  /** For what fetch followed: it does not tell whether it made a GET of the request. */
  endAt({ redirected, url }: Response): void {
    if (redirected) this.#goOn(url)
  }

  #goOn(href: string, method?: string): void {
    const { method: own = 'get' } = this.#config
    const isSafe = /^(get|head)$/i.test(own)
    if (method === undefined ? !isSafe : method.toLowerCase() !== own.toLowerCase()) this.mayHaveActed = true
    // A response that somebody made by hand has no URL.
    if (href !== '' && new URL(href).origin !== new OriginScope().originOf(this.#config)) this.hasLeft = true
  }
}

type Fetch = typeof fetch

/** What axios chooses its adapter by: the same, but that its fetch tells of redirects, and of no token where it is printed. */
export function tellingRedirects(config: InternalAxiosRequestConfig): { readonly env: object } {
  const env = memberOf(config, 'env')
  const given = env && Object.hasOwn(env, 'fetch') ? (env.fetch as Fetch | null | undefined) : undefined
  // Named, because axios would keep those of the first request, and tools for tests put others in their place for a while.
  const { Request, Response } = globalThis
  return { env: { Request, Response, ...env, fetch: telling(given ?? platformFetch) } }
}

/** The platform's, looked up at each call: tools for tests put another in its place. */
const platformFetch: Fetch = (...given) => fetch(...given)
// One for each fetch: axios makes an adapter of each, and keeps it.
const tellers = new WeakMap<Fetch, Fetch>()

function telling(inner: Fetch): Fetch {
  const known = tellers.get(inner)
  if (known) return known
  const teller: Fetch = async (...given) => {
    const [request, options] = given
    concealRequest(request)
    const response = await inner(...given)
    const { [JOURNEY]: journey } = (options ?? {}) as { [JOURNEY]?: Journey }
    journey?.endAt(response)
    return response
  }
  tellers.set(inner, teller)
  return teller
}
