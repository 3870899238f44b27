import { asGiven, checkedFlag, checkFunction, checkText, type Readers, readOptions } from '../core/option-checks.ts'
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
const OPTIONS = {
  origins: asGiven,
  header: headerName,
  scheme: schemeName,
  refuses: rejecting,
  allowInsecureHttp: checkedFlag,
  dpop: proofKey,
} satisfies Readers<Omit<GivenOptions<never>, 'overwrite'>>

type MoreReaders = Partial<Readers<Pick<GivenOptions<never>, 'overwrite'>>>

export interface BearerSettings<Answer> extends OriginSettings {
  readonly header: string
  /** The text of the header with this token. */
  readonly text: (token: string) => string
  readonly refuses: Refuses<Answer>
  /** Undefined with a client that has no such option. */
  readonly overwrite?: boolean | undefined
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
>(what: string, options: Options & Unknown<Options>, more: MoreReaders = {}): BearerSettings<Answer> {
  const { scheme, ...own } = readOptions(`The options of ${what}`, options, { ...OPTIONS, ...more }, '')
  const { dpop, allowInsecureHttp } = own
  if (dpop !== undefined && scheme !== undefined)
    throw new TypeError('scheme must not be given with dpop: it is DPoP (RFC 9449)')
  const origins = givenOrigins(own.origins, allowInsecureHttp)
  const text = textWith(scheme ?? (dpop === undefined ? 'Bearer' : 'DPoP'))
  return { ...own, origins, text } as BearerSettings<Answer>
}

function headerName(name: string, given: unknown = 'Authorization'): string {
  checkText(name, given)
  if (/^[\w!#$%&'*+.^`|~-]+$/.test(given)) return given
  throw new TypeError(`${name} must be the name of a header, such as X-Api-Token`)
}

function schemeName(name: string, given: unknown): string | undefined {
  if (given === undefined || given === '') return given
  checkText(name, given)
  // Other characters would end the header line, or be stripped on the way.
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
