import { checkedSecureUrl, mayCarrySecrets, parsedUrl } from '../core/secure-origin.ts'

interface Page {
  readonly document?: { readonly baseURI?: string }
  readonly location?: { readonly href?: string }
}

/** @returns The address against which a browser resolves relative ones; undefined without a page. Read at each call: it may change. */
export function pageUrl(): string | undefined {
  const { document, location } = globalThis as Page
  return document?.baseURI ?? location?.href
}

export interface OriginSettings {
  readonly origins: readonly string[] | undefined
  readonly allowInsecureHttp: boolean
}

/** Where requests go by default: the name of this setting for messages, and its value if it has one. */
export interface Base {
  readonly name: string
  readonly address?: string | undefined
}

/**
 * @returns The origins that may have the token: those that the user names, else those of `base` and of the token source. Without a base the page
 * takes its place. The page counts by its own address: `<base href>` decides only where relative addresses lead, and anybody who can write
 * markup into the page can set it.
 * @throws {TypeError} when there is none, or when it is not secure. @param advice What to do if none is known.
 */
export function grantedOrigins(
  { origins, allowInsecureHttp }: OriginSettings,
  { name, address }: Base,
  sourceOrigin: string | undefined,
  advice: string,
): string[] {
  if (origins) return [...new Set(origins)]
  const known = new Set<string>()
  const base = parsedUrl(address ?? '', (globalThis as Page).location?.href)
  if (base && address) known.add(checkedSecureUrl(name, base, allowInsecureHttp).origin)
  else if (base && mayCarrySecrets(base, allowInsecureHttp)) known.add(base.origin)
  const source = sourceOrigin === undefined ? undefined : parsedUrl(sourceOrigin)
  if (source && mayCarrySecrets(source, allowInsecureHttp)) known.add(source.origin)
  if (known.size > 0) return [...known]
  if (base?.protocol === 'http:') checkedSecureUrl('The address of the page', base, allowInsecureHttp)
  throw new TypeError(`No origin is known that may receive the token: ${advice}`)
}
