import { member } from '../core/thrown.ts'
import { type ExchangeContext, internalOf } from '../core/token-source.ts'
import { checkCredential, fromFunction } from '../wire/credential.ts'
import type { OAuth2Options } from './oauth2-options.ts'

export interface AuthenticatedClient {
  readonly clientId: string
  readonly clientSecret: OAuth2Options['clientSecret']
  readonly method: NonNullable<OAuth2Options['clientAuthentication']>
}

/**
 * Authenticates the client of one token request (RFC 6749, section 2.3).
 *
 * @param issuer The issuer identifier, for a `method` that is a function.
 * @throws {TokenError} when `method` or `clientSecret` is a function that fails.
 */
export async function authenticate(
  { clientId, clientSecret, method }: AuthenticatedClient,
  issuer: string,
  body: URLSearchParams,
  headers: Headers,
  context: ExchangeContext,
): Promise<void> {
  if (typeof method === 'function') {
    const write = () => method({ issuer }, { client_id: clientId }, body, headers)
    return fromFunction('clientAuthentication', write, () => undefined, context)
  }
  if (method !== 'basic') body.set('client_id', clientId)
  if (method === 'none') return
  const isFunction = typeof clientSecret === 'function'
  const secret = isFunction ? await fromFunction('clientSecret', clientSecret, checked, context) : clientSecret
  if (isFunction) internalOf(context).hasCredentials?.(String(secret))
  if (method === 'post') body.set('client_secret', String(secret))
  else headers.set('Authorization', `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(String(secret))}`)}`)
}

function checked(secret: unknown): string {
  checkCredential('clientSecret', secret)
  return secret
}

/** Encodes the id or the secret before base64 (RFC 6749, section 2.3.1): a colon would end the id, and btoa rejects characters above U+00FF. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}

/** RFC 7591, section 2. */
const METHODS: ReadonlyMap<unknown, 'basic' | 'post' | 'none'> = new Map([
  ['client_secret_basic', 'basic'],
  ['client_secret_post', 'post'],
  ['none', 'none'],
])

/**
 * Chooses the authentication method of a client as the MCP SDKs do: the registered one if the server supports it, else the first of `METHODS` that the
 * server supports, else `post`.
 *
 * @param metadata The metadata of the server (RFC 8414).
 */
export function authenticationFor(secret: string | undefined, registered: string | undefined, metadata: unknown) {
  if (secret === undefined) return 'none'
  const listed = member(metadata, 'token_endpoint_auth_methods_supported')
  const isSupported = (name: unknown) => !Array.isArray(listed) || listed.length === 0 || listed.includes(name)
  return METHODS.get([registered, ...METHODS.keys()].find((name) => METHODS.has(name) && isSupported(name))) ?? 'post'
}
