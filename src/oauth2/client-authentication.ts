import { asked, checkCredential } from '../wire/credential.ts'

/**
 * Writes into the body or the headers of a token call what proves the client, such as `PrivateKeyJwt(key)` of oauth4webapi.
 */
export type ClientAuthentication = (
  as: { issuer: string },
  client: { client_id: string },
  body: URLSearchParams,
  headers: Headers,
) => void | Promise<void>

export interface AuthenticatedClient {
  readonly clientId: string
  readonly clientSecret: string | (() => string | Promise<string>) | undefined
  readonly method: 'basic' | 'post' | 'none' | ClientAuthentication
  /** What a function of the user's is told of the server. */
  readonly issuer: string
}

/**
 * Proves the client in one token call (RFC 6749, section 2.3).
 *
 * @returns The secret that was used.
 * @throws {TokenError} when a function of the user's fails.
 */
export async function authenticate(
  { clientId, clientSecret, method, issuer }: AuthenticatedClient,
  body: URLSearchParams,
  headers: Headers,
): Promise<string | undefined> {
  if (typeof method === 'function') {
    const write = () => method({ issuer }, { client_id: clientId }, body, headers)
    return asked('clientAuthentication', write, () => undefined)
  }
  if (method !== 'basic') body.set('client_id', clientId)
  if (method === 'none') return undefined
  const secret = typeof clientSecret === 'function' ? await asked('clientSecret', clientSecret, checked) : clientSecret
  if (method === 'post') body.set('client_secret', String(secret))
  else headers.set('Authorization', `Basic ${btoa(`${formEncoded(clientId)}:${formEncoded(String(secret))}`)}`)
  return secret
}

function checked(secret: unknown): string {
  checkCredential('clientSecret', secret)
  return secret
}

/** As section 2.3.1 wants it before base64: a colon in the id would end it, and base64 has no other characters than ASCII. */
function formEncoded(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1)
}
