import { checkFlag, checkFunction, checkText, namesOf, ownOptions } from '../core/option-checks.ts'
import { checkKey, type GivenKey } from '../core/proofs.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { OriginSettings } from './origins.ts'

/** The options that all attachments have. `Answer` is what their client library calls a response. */
interface GivenOptions<Answer> {
  origins?: readonly (string | URL)[] | undefined
  header?: string | undefined
  scheme?: string | undefined
  refuses?: ((answer: Answer) => boolean) | undefined
  allowInsecureHttp?: boolean | undefined
  dpop?: GivenKey | undefined
}

/** An option of one client that is unknown here does not compile. */
type Unknown<Options> = Readonly<Record<Exclude<keyof Options, keyof GivenOptions<never>>, never>>

const NAMES = /* @__PURE__ */ namesOf<GivenOptions<never>>({
  origins: true,
  header: true,
  scheme: true,
  refuses: true,
  allowInsecureHttp: true,
  dpop: true,
})

export interface BearerSettings<Answer> extends OriginSettings {
  readonly header: string
  /** The text of the header with this token. */
  readonly text: (token: string) => string
  readonly refuses: (answer: Answer) => boolean
  readonly dpop: GivenKey | undefined
}

/** @throws {TypeError} naming the option. @returns The options with their defaults; `origins` has no default here. */
export function bearerSettings<
  Answer extends { readonly status: number },
  Options extends GivenOptions<Answer> = GivenOptions<Answer>,
>(what: string, given: Options & Unknown<Options>): BearerSettings<Answer> {
  const own = ownOptions<GivenOptions<Answer>>(`The options of ${what}`, given, NAMES)
  const { origins, header = 'Authorization', dpop, refuses = isUnauthorized, allowInsecureHttp = false } = own
  const { scheme = dpop === undefined ? 'Bearer' : 'DPoP' } = own
  checkFlag('allowInsecureHttp', allowInsecureHttp)
  checkText('header', header)
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header))
    throw new TypeError('header must be the name of a header, such as X-Api-Token')
  if (scheme !== '') checkText('scheme', scheme)
  // Other characters would end the header line, or be stripped on the way.
  if (!/^[\x21-\x7e]*$/.test(scheme)) throw new TypeError('scheme must be one word of visible ASCII')
  if (dpop !== undefined) checkKey('dpop', dpop)
  if (dpop !== undefined && own.scheme !== undefined)
    throw new TypeError('scheme must not be given with dpop: it is DPoP (RFC 9449)')
  checkFunction('refuses', refuses)
  // A promise counts as true: each request would be sent twice.
  if (Object.prototype.toString.call(refuses) === '[object AsyncFunction]')
    throw new TypeError('refuses must not be async')
  return {
    origins: givenOrigins(origins, allowInsecureHttp),
    header,
    text: textWith(scheme),
    refuses: refuses === isUnauthorized ? refuses : notPromising(refuses),
    allowInsecureHttp,
    dpop,
  }
}

const isUnauthorized = ({ status }: { readonly status: number }) => status === 401

/** A compiler may have made an async function into one that is not seen to be async. */
function notPromising<Answer>(refuses: (answer: Answer) => unknown): (answer: Answer) => boolean {
  return (given) => {
    const answer = refuses(given)
    if (typeof (answer as Partial<PromiseLike<unknown>> | null)?.then !== 'function') return Boolean(answer)
    // Nobody awaits the promise: its rejection would end the process.
    Promise.resolve(answer).catch(() => undefined)
    throw new TypeError('refuses must not be async')
  }
}

/** The text of the header, made once for each token. */
function textWith(scheme: string): (token: string) => string {
  let last = { token: '', text: '' }
  return (token) => {
    if (token !== last.token) last = { token, text: scheme === '' ? token : `${scheme} ${token}` }
    return last.text
  }
}

function givenOrigins(origins: GivenOptions<never>['origins'], allowInsecureHttp: boolean): string[] | undefined {
  if (origins === undefined) return undefined
  if (!Array.isArray(origins)) throw new TypeError('origins must be an array of origins')
  if (origins.length === 0) throw new TypeError('origins must name at least one origin')
  return origins.map((given) => {
    const { origin, hostname, href } = checkedSecureUrl('origins', given, allowInsecureHttp)
    // A wildcard would be compared as it is, and no request has such an origin.
    if (hostname.includes('*')) throw new TypeError(`origins takes no wildcards, got '${origin}': list each origin`)
    if (href !== `${origin}/`)
      throw new TypeError(`origins takes no path, query or fragment: the token goes to all paths, write '${origin}'`)
    return origin
  })
}
