import type { IncomingHttpHeaders } from 'node:http'
import type { MetFault } from './fault-queue.ts'
import { isRejected, type ProofReader } from './proof-reader.ts'
import type { SimulatedLogin } from './simulated-login.ts'
import type { ServiceSettings } from './service-options.ts'
import type { Reply } from './token-document.ts'
import type { Client } from './token-endpoint.ts'
import { type IssuedTokens, newFamily, type TokenLedger } from './token-ledger.ts'

export interface OAuthCall {
  method: string
  /** The path with its query. */
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/**
 * Handles the requests of clients as OAuth 2.0 specifies. `token`: token requests (RFC 6749, sections 2.3, 4.4, 5 and 6), first the
 * throttle, then the form of the request, then the client, then the grant. The second use of a refresh token revokes all tokens
 * descended from the same token set (RFC 9700, section 4.14.2). `revoke`: RFC 7009. A client without a secret is public, and may use only
 * the tokens of a login. Tokens that are requested with a proof are bound to its key (RFC 9449, section 5).
 *
 * @param waitMs The throttle (see `throttleOf`).
 * @returns functions of one call and the instant it was received, epoch ms by the service's clock.
 */
export function oauthEndpoints(
  settings: ServiceSettings,
  ledger: TokenLedger,
  client: Readonly<Client>,
  waitMs: (now: number) => number,
  proofs: ProofReader,
) {
  function token(call: OAuthCall, now: number): Reply {
    const throttledMs = waitMs(now)
    if (throttledMs > 0)
      return errorReply(429, 'temporarily_unavailable', 'Too many token requests.', {
        'Retry-After': String(Math.max(1, Math.ceil(throttledMs / 1000))),
      })
    const request = requestIn(call, client)
    if ('status' in request) return request
    const { form, isPublic } = request
    const proof = call.headers.dpop === undefined ? { jkt: undefined } : proofs.read(call, now / 1000)
    if (isRejected(proof))
      return errorReply(400, proof.error, 'The proof is invalid, or lacks the nonce of this response.')
    const { jkt } = proof
    const grant = form.get('grant_type')
    if (grant === null) return errorReply(400, 'invalid_request', 'grant_type is missing.')
    if (grant === 'client_credentials')
      return isPublic ? UNKNOWN_CLIENT : tokens(ledger.issueTokens(now, newFamily({ jkt })), jkt)
    if (grant !== 'refresh_token')
      return errorReply(400, 'unsupported_grant_type', 'grant_type must be client_credentials or refresh_token.')
    return rotated(form.get('refresh_token'), isPublic, jkt, now)
  }

  function rotated(refresh: string | null, isPublic: boolean, jkt: string | undefined, now: number): Reply {
    if (refresh === null) return errorReply(400, 'invalid_request', 'refresh_token is missing.')
    if (isPublic && isConfidential(refresh)) return UNKNOWN_CLIENT
    const family = ledger.familyOf(refresh)
    if (family?.jkt !== undefined && family.jkt !== jkt)
      return errorReply(400, 'invalid_grant', 'The refresh token is bound to another key.')
    const issued = ledger.rotate(refresh, now)
    // A login that was not bound becomes bound to the first key that refreshes it.
    if (family && issued) family.jkt = jkt
    if (issued) return tokens(issued, jkt)
    ledger.revokeReused(refresh)
    return errorReply(400, 'invalid_grant', 'The refresh token is unknown, expired, revoked, or was used before.')
  }

  function revoke(call: OAuthCall): Reply {
    const request = requestIn(call, client)
    if ('status' in request) return request
    const presented = request.form.get('token')
    if (presented === null) return errorReply(400, 'invalid_request', 'token is missing.')
    if (request.isPublic && isConfidential(presented)) return UNKNOWN_CLIENT
    ledger.revoke(presented)
    // The response is the same for an unknown token, which is not valid anyway (RFC 7009, section 2.2).
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: '' }
  }

  /** Whether the token belongs to the client with the secret. */
  function isConfidential(presented: string): boolean {
    return ledger.familyOf(presented)?.isLogin === false
  }

  function tokens({ access, refresh }: IssuedTokens, jkt: string | undefined): Reply {
    const expires_in = settings.accessLifetimeMs / 1000
    const token_type = jkt === undefined ? 'Bearer' : 'DPoP'
    return reply(200, { access_token: access, token_type, expires_in, refresh_token: refresh })
  }

  return { token, revoke }
}

/** Handles `loginEndpoint`: a user logs in, without a password. @param logIn Creates the login. */
export function loginEndpoint(
  { method, body }: Pick<OAuthCall, 'method' | 'body'>,
  logIn: (subject?: string) => SimulatedLogin,
): Reply {
  if (method !== 'POST') return notPost(method)
  const subject = new URLSearchParams(body).get('subject') ?? ''
  return reply(200, logIn(subject === '' ? undefined : subject).answer)
}

/** @returns The response of a `{ status }` fault. */
export function scriptedRefusal(kind: string, status: number, { headers, body }: MetFault): Reply {
  const usual = errorReply(status, errorCodeFor(kind, status), 'A simulated fault.', headers)
  return body === undefined && status >= 400 ? usual : { ...usual, body: body ?? '' }
}

function errorCodeFor(kind: string, status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 429) return 'temporarily_unavailable'
  if (status === 401) return 'invalid_client'
  return kind === 'refresh' && status === 400 ? 'invalid_grant' : 'invalid_request'
}

const FORM = 'application/x-www-form-urlencoded'

/** The form of a request, and whether its client is public; or the error response. */
function requestIn(
  { method, headers, body }: OAuthCall,
  client: Readonly<Client>,
): { form: URLSearchParams; isPublic: boolean } | Reply {
  if (method !== 'POST') return notPost(method)
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) return errorReply(400, 'invalid_request', `Content-Type must be ${FORM}.`)
  const form = new URLSearchParams(body)
  const presented = clientIn(headers.authorization, form)
  if (presented === 'twice') return errorReply(400, 'invalid_request', 'The client must authenticate in one way only.')
  if (presented?.clientId && presented.clientSecret === undefined) return { form, isPublic: true }
  const { clientId, clientSecret } = client
  if (presented?.clientId !== clientId || presented.clientSecret !== clientSecret) return UNKNOWN_CLIENT
  return { form, isPublic: false }
}

/** Id and secret, in the header or in the body (RFC 6749, section 2.3.1). */
function clientIn(authorization: string | undefined, form: URLSearchParams): Partial<Client> | 'twice' | undefined {
  const basic = /^basic +([\w+/]+=*)$/i.exec(authorization ?? '')?.[1]
  const [clientId, clientSecret] = [form.get('client_id'), form.get('client_secret')]
  if (basic === undefined && clientId === null) return undefined
  if (basic === undefined) return { clientId: clientId ?? '', ...(clientSecret !== null && { clientSecret }) }
  if (clientSecret !== null) return 'twice'
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':').map(formDecoded)
  return { clientId: id, clientSecret: secret }
}

function formDecoded(text: string): string {
  return new URLSearchParams(`=${text}`).get('') ?? ''
}

function reply(status: number, document: object, headers: Record<string, string> = {}): Reply {
  const always = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status, headers: { ...always, ...headers }, body: JSON.stringify(document) }
}

/** RFC 6749, section 5.2. */
function errorReply(status: number, error: string, error_description: string, headers?: Record<string, string>): Reply {
  return reply(status, { error, error_description }, headers)
}

function notPost(method: string): Reply {
  return errorReply(405, 'invalid_request', `Method ${method} is not allowed.`, { Allow: 'POST' })
}

const UNKNOWN_CLIENT = errorReply(401, 'invalid_client', 'The client is unknown, or its secret is missing.', {
  'WWW-Authenticate': 'Basic realm="token"',
})
