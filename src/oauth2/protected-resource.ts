import { TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { memberOf, type Members } from './document.ts'
import { metadataAt } from './metadata.ts'

/** An API that names the authorization server of its tokens (RFC 9728). */
export interface ProtectedResource {
  readonly url: URL
  /** `resource_metadata` of its 401 (section 5.1). Undefined: the metadata are at the well-known address of `url` (section 3.1). */
  readonly metadataUrl: string | undefined
  /** The authorization server, if known. */
  readonly issuer: string | undefined
}

/** An authorization server that was found through the metadata of an API. */
export interface FoundServer {
  readonly authorizationServerUrl: string
  /** RFC 8414. Undefined: the server publishes none. */
  readonly authorizationServerMetadata?: Members | undefined
  readonly resourceMetadata?: Members | undefined
}

/**
 * Finds the authorization server of an API (RFC 9728, then RFC 8414), at the same addresses as the MCP SDKs. An API that names none is its own authorization server.
 *
 * @throws {TokenError} `ERR_TOKEN_SERVICE_UNAVAILABLE` if the metadata could not be fetched; `ERR_TOKEN_REQUEST` if they are unusable. No token request was sent then.
 */
export async function serverOf(
  { url, metadataUrl, issuer }: ProtectedResource,
  calls: TokenCalls,
  context: ExchangeContext,
): Promise<FoundServer> {
  const addresses = metadataUrl === undefined ? wellKnown(url, 'oauth-protected-resource') : [metadataUrl]
  const resourceMetadata = await firstOf(addresses, calls, context)
  const listed = [memberOf(resourceMetadata, 'authorization_servers')].flat()
  const named = listed.find((one): one is string => typeof one === 'string' && parsedUrl(one) !== undefined)
  const authorizationServerUrl = issuer ?? named ?? url.origin
  const server = new URL(authorizationServerUrl)
  const [inserted = ''] = wellKnown(server, 'oauth-authorization-server')
  const [openId = ''] = wellKnown(server, 'openid-configuration')
  const appended = `${server.origin}${server.pathname.replace(/\/$/, '')}/.well-known/openid-configuration`
  const metadata = await firstOf([...new Set([inserted, openId, appended])], calls, context)
  // Otherwise a server could impersonate another issuer (RFC 8414, section 3.3).
  if (metadata && !isSameIssuer(memberOf(metadata, 'issuer'), authorizationServerUrl))
    throw new TokenError('ERR_TOKEN_REQUEST', OTHER_ISSUER, { outcome: 'not-sent' })
  return { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata }
}

/** Ignores a trailing slash, which servers and clients write or omit. */
export function isSameIssuer(one: unknown, other: string): boolean {
  const plain = (text: string) => (parsedUrl(text)?.href ?? text).replace(/\/$/, '')
  return typeof one === 'string' && plain(one) === plain(other)
}

export const OTHER_ISSUER = 'The metadata of the authorization server name another issuer: their endpoints are not used'

const wellKnown = ({ origin, pathname }: URL, name: string) => [
  `${origin}/.well-known/${name}${pathname.replace(/\/$/, '')}`,
  `${origin}/.well-known/${name}`,
]

/** @returns The first metadata found; undefined if no address has any. @throws {TokenError} if an address gave no definite response. */
async function firstOf(addresses: string[], calls: TokenCalls, context: ExchangeContext): Promise<Members | undefined> {
  let unknown: TokenError | undefined
  for (const address of addresses) {
    try {
      return await metadataAt(calls, new URL(address), context, 'the server')
    } catch (thrown) {
      const error = thrown as TokenError
      const { status = 500 } = error
      if (status >= 500) throw error
      if (status < 300 || TRANSIENT.includes(status)) unknown ??= error
    }
  }
  if (unknown) throw unknown
  return undefined
}

/** Transient: the address may have metadata. */
const TRANSIENT: readonly number[] = [408, 425, 429]
