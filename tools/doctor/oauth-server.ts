import type { TokenSource } from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import type { ClientProof } from './client-proof.ts'
import type { Findings } from './findings.ts'
import { member, parsed } from './protocol.ts'
import type { Recording } from './recorder.ts'

/** An OAuth 2.0 server and its client. */
export interface OAuthServer {
  readonly issuer: string | undefined
  readonly tokenEndpoint: string | undefined
  readonly clientId: string
  readonly clientSecret: string | undefined
  readonly scope: string | undefined
  readonly parameters: Readonly<Record<string, string>>
  /** The store with a login. Undefined: client credentials. */
  readonly file: string | undefined
  readonly storedAs: string | undefined
}

/** @throws {TypeError} naming the invalid option. */
export function oauthSource(
  { issuer, tokenEndpoint, clientId, clientSecret, scope, parameters, file, storedAs }: OAuthServer,
  proof: ClientProof,
  calls: Pick<OAuth2Options, 'allowInsecureHttp' | 'transport'>,
): TokenSource {
  return oauth2({
    ...calls,
    ...{ issuer, tokenEndpoint, clientId, clientSecret, scope, parameters },
    clientAuthentication: proof.authentication(clientSecret),
    grant: file === undefined ? 'client_credentials' : 'login',
    // Otherwise the source would drop a refresh token that comes with client credentials.
    ...(file === undefined && { refreshTokens: 'single-use' }),
    account: storedAs ?? clientId,
  })
}

/** What metadata and responses show of the server. @param expected The issuer that the user named. */
export function serverFindings(
  { metadata, calls }: Recording,
  expected: string | undefined,
): Pick<Findings, 'metadataIssuer' | 'tokenEndpoint' | 'dpop'> {
  const documents = metadata.map(({ text }) => parsed(text))
  const issuers = documents.map((one) => member(one, 'issuer'))
  const other = issuers.includes(expected) ? undefined : issuers.find(isPlainUrl)
  const found = documents.find((one) => member(one, 'token_endpoint') !== undefined)
  const endpoint = member(found, 'token_endpoint')
  const url = typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint) : undefined
  const isOffered = Array.isArray(member(found, 'dpop_signing_alg_values_supported'))
  const hasNonce = calls.some(({ headers }) => Object.keys(headers).some((name) => name.toLowerCase() === 'dpop-nonce'))
  return {
    ...(other !== undefined && { metadataIssuer: other }),
    ...(url && { tokenEndpoint: url.origin + url.pathname }),
    ...((isOffered || hasNonce) && { dpop: hasNonce ? 'nonce' : 'offered' }),
  }
}

/** Whether the text is a URL without user and query, as an issuer must be: any other text of a server may contain anything. */
function isPlainUrl(text: unknown): text is string {
  return typeof text === 'string' && /^https?:\/\/[\w.:[\]-]+(\/[\w.~%/-]*)?$/i.test(text)
}
