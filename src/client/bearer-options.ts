import { checkFlag, checkFunction, checkText, namesOf, ownOptions } from '../core/option-checks.ts'
import { checkKey, type GivenKey } from '../core/proof-port.ts'
import { checkedSecureUrl } from '../core/secure-origin.ts'
import type { OriginSettings } from './origins.ts'

/** The options that all attachments have. `Answer` is what their client library calls a response. */
interface GivenOptions<Answer> {
  origins?: readonly (string | URL)[] | undefined
  header?: string | undefined
  scheme?: string | undefined
  refuses?: Refuses<Answer> | undefined
  overwrite?: boolean | undefined
  allowInsecureHttp?: boolean | undefined
  dpop?: GivenKey | undefined
}

/** A client whose answers hold their bodies unread may ask it of a body, and wait. */
export type Refuses<Answer> = (answer: Answer) => boolean | PromiseLike<boolean>

/** An option of one client that is unknown here does not compile. */
type Unknown<Options> = Readonly<Record<Exclude<keyof Options, keyof GivenOptions<never>>, never>>

/** All options but those of one client alone. */
const NAMES = /* @__PURE__ */ namesOf<Omit<GivenOptions<never>, 'overwrite'>>({
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
  readonly refuses: Refuses<Answer>
  readonly overwrite: boolean
  readonly dpop: GivenKey | undefined
}

/**
 * @param more The options of this client alone.
 * @returns The options with their defaults; `origins` has no default here.
 * @throws {TypeError} naming the option.
 */
export function bearerSettings<
  Answer extends { readonly status: number },
  Options extends GivenOptions<Answer> = GivenOptions<Answer>,
>(what: string, given: Options & Unknown<Options>, more: readonly 'overwrite'[] = []): BearerSettings<Answer> {
  const own = ownOptions<GivenOptions<Answer>>(`The options of ${what}`, given, [...NAMES, ...more])
  const { origins, header = 'Authorization', dpop, refuses = isUnauthorized, allowInsecureHttp = false } = own
  const { overwrite = false } = own
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
  checkFlag('overwrite', overwrite)
  return {
    origins: givenOrigins(origins, allowInsecureHttp),
    header,
    text: textWith(scheme),
    refuses,
    overwrite,
    allowInsecureHttp,
    dpop,
  }
}

export const isUnauthorized = ({ status }: { readonly status: number }) => status === 401

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
