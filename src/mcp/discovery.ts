import { TokenError } from '../core/errors.ts'
import { parsedUrl } from '../core/secure-origin.ts'
import { member, quietly } from '../core/thrown.ts'
import type { CheckedProvider } from './auth-provider.ts'
import type { LoginContext } from './login-context.ts'

/** Where the SDK has logged in. */
export interface LoginPlace {
  readonly provider: CheckedProvider
  readonly serverUrl: URL
  /** `resource_metadata` of the server's last 401 (RFC 9728, section 5.1). */
  readonly metadataUrl: string | undefined
  readonly fetch: typeof fetch
}

/** As the SDK keeps it in `discoveryState`. */
interface Discovered {
  readonly authorizationServerUrl: string
  readonly authorizationServerMetadata?: unknown
  readonly resourceMetadata?: unknown
}

/**
 * Finds the server and the client of a login that the SDK has just made: as the SDK discovered them, or, if the provider does not keep that, by our own
 * discovery (RFC 9728, then RFC 8414).
 *
 * @param issuer With which the SDK marked the tokens; undefined with older SDKs.
 * @param about What the SDK gave to `saveTokens` beside the tokens.
 * @throws {TokenError} `ERR_TOKEN_REQUEST`, `ERR_TOKEN_SERVICE_UNAVAILABLE`
 */
export async function contextOfLogin(
  place: LoginPlace,
  issuer: string | undefined,
  about: unknown,
): Promise<LoginContext> {
  const { provider, serverUrl } = place
  const kept = await provider.discoveryState?.()
  const { authorizationServerUrl, authorizationServerMetadata, resourceMetadata } =
    isDiscovered(kept) && isOf(kept, issuer) ? kept : await discovered(place, issuer)
  const text = (name: string) => textIn(authorizationServerMetadata, name)
  const advertised = textIn(resourceMetadata, 'resource')
  const chosen = await provider.validateResourceURL?.(serverUrl.href, advertised)
  return {
    // Without metadata the SDK takes this address, too.
    tokenEndpoint: text('token_endpoint') ?? new URL('/token', authorizationServerUrl).href,
    revocationEndpoint: text('revocation_endpoint'),
    issuer: text('issuer') ?? authorizationServerUrl,
    ...clientOf(await provider.clientInformation(about), authorizationServerMetadata),
    resource: provider.validateResourceURL ? parsedUrl(String(chosen))?.href : advertised,
  }
}

function isDiscovered(state: unknown): state is Discovered {
  return parsedUrl(textIn(state, 'authorizationServerUrl') ?? '') !== undefined
}

/** Whether this is the server that issued the tokens: the provider may have kept that of an earlier login. */
function isOf({ authorizationServerUrl, authorizationServerMetadata }: Discovered, issuer: string | undefined) {
  const names = [authorizationServerUrl, textIn(authorizationServerMetadata, 'issuer')]
  return issuer === undefined || names.some((name) => isSameIssuer(name, issuer))
}

function isSameIssuer(one: string | undefined, other: string): boolean {
  const plain = (text: string) => (parsedUrl(text)?.href ?? text).replace(/\/$/, '')
  return one !== undefined && plain(one) === plain(other)
}

async function discovered({ fetch, serverUrl, metadataUrl }: LoginPlace, issuer?: string): Promise<Discovered> {
  const wellKnown = ({ origin, pathname }: URL, name: string) => [
    `${origin}/.well-known/${name}${pathname.replace(/\/$/, '')}`,
    `${origin}/.well-known/${name}`,
  ]
  const resourceMetadata = await documentAt(
    metadataUrl === undefined ? wellKnown(serverUrl, 'oauth-protected-resource') : [metadataUrl],
    fetch,
  )
  const [named] = [member(resourceMetadata, 'authorization_servers') ?? []].flat() as unknown[]
  const authorizationServerUrl = issuer ?? (typeof named === 'string' ? named : serverUrl.origin)
  const server = new URL(authorizationServerUrl)
  const [inserted = ''] = wellKnown(server, 'oauth-authorization-server')
  const [openId = ''] = wellKnown(server, 'openid-configuration')
  const appended = `${server.origin}${server.pathname.replace(/\/$/, '')}/.well-known/openid-configuration`
  const authorizationServerMetadata = await documentAt([...new Set([inserted, openId, appended])], fetch)
  // Otherwise anybody could name the endpoints of somebody else (RFC 8414, section 3.3).
  if (
    authorizationServerMetadata &&
    !isSameIssuer(textIn(authorizationServerMetadata, 'issuer'), authorizationServerUrl)
  )
    throw new TokenError('ERR_TOKEN_REQUEST', OTHER_ISSUER)
  return { authorizationServerUrl, authorizationServerMetadata, resourceMetadata }
}

const OTHER_ISSUER = 'The metadata of the authorization server name another issuer: their endpoints are not used'

/** @returns The first document that one of the addresses has; undefined if none has one. */
async function documentAt(addresses: readonly string[], fetch: LoginPlace['fetch']): Promise<object | undefined> {
  for (const address of addresses) {
    const response = await fetch(address, { headers: { Accept: 'application/json' } }).catch((cause: unknown) => {
      throw notHad(address, cause)
    })
    const hasLeft = response.redirected && parsedUrl(response.url)?.origin !== new URL(address).origin
    if (response.status >= 500) throw notHad(address)
    const text = await response.text()
    const document = response.ok && !hasLeft ? quietly(() => JSON.parse(text) as unknown) : undefined
    if (typeof document === 'object' && document !== null) return document
  }
  return undefined
}

function notHad(address: string, cause?: unknown): TokenError {
  const { origin, pathname } = new URL(address)
  const message = `The metadata at ${origin}${pathname} cannot be had: log in again`
  return new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', message, { outcome: 'not-sent', cause })
}

const METHODS: ReadonlyMap<unknown, LoginContext['clientAuthentication']> = new Map([
  ['client_secret_basic', 'basic'],
  ['client_secret_post', 'post'],
  ['none', 'none'],
])

/** Chooses the authentication of the client as the SDK does: what the server registered, else the first of these that it supports. */
function clientOf(client: unknown, metadata: unknown) {
  const clientId = textIn(client, 'client_id')
  if (clientId === undefined)
    throw new TypeError('provider.clientInformation must give the client that the tokens were issued to')
  const clientSecret = textIn(client, 'client_secret')
  const listed = member(metadata, 'token_endpoint_auth_methods_supported')
  const supported = Array.isArray(listed) ? (listed as unknown[]) : []
  const isSupported = (name: unknown) => supported.length === 0 || supported.includes(name)
  const registered = member(client, 'token_endpoint_auth_method')
  const candidates =
    clientSecret === undefined ? ['none'] : [registered, 'client_secret_basic', 'client_secret_post', 'none']
  const chosen = candidates.find((name) => METHODS.has(name) && isSupported(name))
  const clientAuthentication = METHODS.get(chosen) ?? (clientSecret === undefined ? 'none' : 'post')
  return { clientId, clientAuthentication, ...(clientAuthentication !== 'none' && { clientSecret }) }
}

function textIn(holder: unknown, name: string): string | undefined {
  const text = member(holder, name)
  return typeof text === 'string' && text !== '' ? text : undefined
}
