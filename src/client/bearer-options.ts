import { asGiven, checkedFlag, checkFunction, checkText, type Readers, readOptions } from '../core/option-checks.ts'
import { checkKey, type GivenKey } from '../core/proof-port.ts'
import type { DPoPKey } from '../core/proofs.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { OriginSettings } from './origins.ts'

/** The options of `withBearer`, and of `attachBearer`, which takes all but `overwrite`. */
export interface BearerOptions<HttpResponse = Response, Verdict = boolean | Promise<boolean>> {
  /**
   * Origins that may receive the token. Default: the origin of the token source; with axios also that of `instance.defaults.baseURL`; in a page also
   * that of the page, whatever `<base href>` says, unless axios has an absolute `baseURL`.
   */
  origins?: readonly (string | URL)[] | undefined
  /** Default `Authorization`. With another header, redirects are not followed, because axios and fetch strip only `Authorization` across origins. */
  header?: string | undefined
  /** The scheme before the token. Default `Bearer`. An empty string sends the token alone. */
  scheme?: string | undefined
  /**
   * Whether a response rejects the token. Default: status 401. With axios, `data` is not yet transformed. With fetch, the function may return a promise
   * and read the body of `response.clone()`, because GraphQL may reject tokens with status 200. The caller receives the response once the promise resolves.
   * A response whose `WWW-Authenticate` says that no other token would help (`insufficient_scope`, `insufficient_user_authentication`) never causes a
   * renewal.
   */
  refuses?: ((response: HttpResponse) => Verdict) | undefined
  /**
   * Replaces a header that the caller has set, for SDKs that always set one. Default false: such a request is sent unchanged. Requests to other origins
   * always keep their header.
   */
  overwrite?: boolean | undefined
  /** Send tokens over plain http to hosts that are not loopback. Default false. */
  allowInsecureHttp?: boolean | undefined
  /**
   * A key of `axios-evergreen/dpop`, or a promise of one. It must be the key of the source. Each request carries a proof (RFC 9449), is sent after the key
   * has signed, and follows no redirect. Cannot be combined with `scheme` or with the xhr adapter of axios.
   */
  dpop?: DPoPKey | Promise<DPoPKey> | undefined
}

type GivenOptions<HttpResponse> = BearerOptions<HttpResponse, boolean | PromiseLike<boolean>>

export type Refuses<HttpResponse> = (response: HttpResponse) => boolean | PromiseLike<boolean>

/** The readers of the options that all clients have. */
const OPTIONS = {
  origins: asGiven,
  header: headerName,
  scheme: schemeName,
  refuses: rejecting,
  allowInsecureHttp: checkedFlag,
  dpop: proofKey,
} satisfies Readers<Omit<GivenOptions<never>, 'overwrite'>>

type MoreReaders = Partial<Readers<Pick<GivenOptions<never>, 'overwrite'>>>

export interface BearerSettings<HttpResponse> extends OriginSettings {
  readonly header: string
  /** The value of the header with this token. */
  readonly text: (token: string) => string
  readonly refuses: Refuses<HttpResponse>
  /** Undefined with a client that has no such option. */
  readonly overwrite?: boolean | undefined
  readonly dpop: GivenKey | undefined
}

/**
 * @param more The readers of the options that only this client has.
 * @returns The options with their defaults. `origins` has no default here.
 * @throws {TypeError} naming the option.
 */
export function bearerSettings<HttpResponse extends { readonly status: number }>(
  what: string,
  options: GivenOptions<HttpResponse>,
  more: MoreReaders = {},
): BearerSettings<HttpResponse> {
  const { scheme, ...own } = readOptions(`The options of ${what}`, options, { ...OPTIONS, ...more }, '')
  const { dpop, allowInsecureHttp } = own
  if (dpop !== undefined && scheme !== undefined)
    throw new TypeError('scheme must not be given with dpop: it is DPoP (RFC 9449)')
  const origins = givenOrigins(own.origins, allowInsecureHttp)
  const text = textWith(scheme ?? (dpop === undefined ? 'Bearer' : 'DPoP'))
  return { ...own, origins, text } as BearerSettings<HttpResponse>
}

function headerName(name: string, given: unknown = 'Authorization'): string {
  checkText(name, given)
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(given)) return given
  throw new TypeError(`${name} must be the name of a header, such as X-Api-Token`)
}

function schemeName(name: string, given: unknown): string | undefined {
  if (given === undefined || given === '') return given
  checkText(name, given)
  // Other characters would end the header line, or be stripped in transit.
  if (/^[\x21-\x7e]*$/.test(given)) return given
  throw new TypeError(`${name} must be one word of visible ASCII`)
}

function rejecting(name: string, given: unknown = isUnauthorized): Refuses<never> {
  checkFunction(name, given)
  return given as Refuses<never>
}

function proofKey(name: string, given: unknown): GivenKey | undefined {
  if (given !== undefined) checkKey(name, given as GivenKey)
  return given as GivenKey | undefined
}

/** Some adapters of axios return the status as text. */
export const isUnauthorized = ({ status }: { readonly status: unknown }) => status === 401 || status === '401'

/** @returns The value of the header. It is built once per token. */
function textWith(scheme: string): (token: string) => string {
  let last = { token: '', text: '' }
  return (token) => {
    if (token !== last.token) last = { token, text: scheme === '' ? token : `${scheme} ${token}` }
    return last.text
  }
}

function givenOrigins(origins: BearerOptions['origins'], allowInsecureHttp: boolean): string[] | undefined {
  if (origins === undefined) return undefined
  if (!Array.isArray(origins)) throw new TypeError('origins must be an array of origins')
  if (origins.length === 0) throw new TypeError('origins must name at least one origin')
  return origins.map((given) => {
    const { origin, hostname, href } = checkedSecureUrl('origins', given, allowInsecureHttp)
    // A wildcard would be compared literally, and no request has such an origin.
    if (hostname.includes('*')) throw new TypeError(`origins takes no wildcards, got '${origin}': list each origin`)
    if (href !== `${origin}/`)
      throw new TypeError(`origins takes no path, query or fragment: the token goes to all paths, write '${origin}'`)
    return origin
  })
}
