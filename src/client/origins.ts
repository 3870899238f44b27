import { checkedSecureUrl, mayCarrySecrets, parsedUrl } from '../core/secure-origin.ts'

interface Page {
  readonly document?: { readonly baseURI?: string }
  readonly location?: { readonly href?: string }
}

/** @returns The address against which pages and workers resolve relative addresses; undefined if there is no `location`. It may change between calls. */
export function pageUrl(): string | undefined {
  const { document, location } = globalThis as Page
  return document?.baseURI ?? location?.href
}

export interface OriginSettings {
  readonly origins: readonly string[] | undefined
  readonly allowInsecureHttp: boolean
}

/** The setting with the default destination of requests. */
export interface Base {
  /** How messages name the setting. */
  readonly name: string
  /** Its value, if any. */
  readonly address?: string | undefined
}

/**
 * @param advice What to do if no origin is known.
 * @returns The origins that may receive the token: those of the option, else those of `base` and of the token source. In a page, `base` is
 * resolved against `location`, and is `location` if it has no address. `<base href>` is ignored, because anyone who can write markup into the page can set
 * it.
 * @throws {TypeError} if no origin is known, or if `base` is not secure.
 */
export function grantedOrigins(
  { origins, allowInsecureHttp }: OriginSettings,
  { name, address }: Base,
  sourceOrigin: string | undefined,
  advice: string,
): string[] {
  if (origins) return [...new Set(origins)]
  const base = parsedUrl(address ?? '', (globalThis as Page).location?.href)
  if (base && address) checkedSecureUrl(name, base, allowInsecureHttp)
  const found = [base, parsedUrl(sourceOrigin ?? '')]
  const known = found.flatMap((url) => (url && mayCarrySecrets(url, allowInsecureHttp) ? url.origin : []))
  if (known.length > 0) return [...new Set(known)]
  if (base?.protocol === 'http:') checkedSecureUrl('The address of the page', base, allowInsecureHttp)
  throw new TypeError(`No origin is known that may receive the token: ${advice}`)
}
