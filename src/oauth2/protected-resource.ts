import { TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import type { ExchangeContext } from '../core/token-source.ts'
import type { TokenCalls } from '../wire/token-call.ts'
import { memberOf, type Members } from './document.ts'
import { metadataAt } from './metadata.ts'

/** Where an API says of itself which server issues its tokens (RFC 9728). */
export interface ProtectedResource {
  readonly url: URL
  /** `resource_metadata` of its 401 (section 5.1). Without it the metadata are at an address that follows from `url` (section 3.1). */
  readonly metadataUrl: string | undefined
  /** Of the authorization server, if that is known. */
  readonly issuer: string | undefined
}

/** An authorization server, as the metadata of an API lead to it. */
export interface FoundServer {
  readonly authorizationServerUrl: string
  /** RFC 8414. Undefined: the server has none. */
  readonly authorizationServerMetadata?: Members | undefined
  readonly resourceMetadata?: Members | undefined
}

/**
 * Finds the authorization server of an API (RFC 9728, then RFC 8414), at the addresses that the SDKs of MCP ask, too. An API that names none is its own.
 *
 * @throws {TokenError} `ERR_TOKEN_SERVICE_UNAVAILABLE` if the metadata cannot be had now; `ERR_TOKEN_REQUEST` if they cannot be used. Nothing was sent then.
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
  // Otherwise anybody could name the endpoints of somebody else (RFC 8414, section 3.3).
  if (metadata && !isSameIssuer(memberOf(metadata, 'issuer'), authorizationServerUrl))
    throw new TokenError('ERR_TOKEN_REQUEST', OTHER_ISSUER, { outcome: 'not-sent' })
  return { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata }
}

/** Servers and clients write a path with a slash at its end, or without. */
export function isSameIssuer(one: unknown, other: string): boolean {
  const plain = (text: string) => (parsedUrl(text)?.href ?? text).replace(/\/$/, '')
  return typeof one === 'string' && plain(one) === plain(other)
}

/** What the error of another issuer says. */
export const OTHER_ISSUER = 'The metadata of the authorization server name another issuer: their endpoints are not used'

const wellKnown = ({ origin, pathname }: URL, name: string) => [
  `${origin}/.well-known/${name}${pathname.replace(/\/$/, '')}`,
  `${origin}/.well-known/${name}`,
]

/** @returns The metadata at the first address that has some; undefined if all have none. @throws {TokenError} if that is not known now. */
async function firstOf(addresses: string[], calls: TokenCalls, context: ExchangeContext): Promise<Members | undefined> {
  let unknown: TokenError | undefined
  for (const address of addresses) {
    try {
      return await metadataAt(calls, new URL(address), context, 'the server')
    } catch (thrown) {
      const error = thrown as TokenError
      const { status = 500 } = error
      if (status >= 500) throw error
      if (status < 300 || LATER.includes(status)) unknown ??= error
    }
  }
  if (unknown) throw unknown
  return undefined
}

/** These say nothing of what is at the address. */
const LATER: readonly number[] = [408, 425, 429]
