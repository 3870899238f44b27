import type { IncomingHttpHeaders } from 'node:http'
import type { MetFault } from './fault-queue.ts'
import { isRefused, type ProofReader } from './proof-reader.ts'
import type { SimulatedLogin } from './simulated-login.ts'
import type { ServiceSettings } from './service-options.ts'
import type { Answer } from './token-document.ts'
import type { Client } from './token-endpoint.ts'
import { type IssuedPair, newFamily, type TokenLedger } from './token-ledger.ts'

export interface OAuthCall {
  method: string
  /** The path with its query. */
  url: string
  headers: IncomingHttpHeaders
  body: string
}

/**
 * Answers the calls of clients as OAuth 2.0 says. `token`: token calls (RFC 6749, sections 2.3, 4.4, 5 and 6), first the
 * throttle, then the form of the request, then the client, then the grant. The second use of a refresh token revokes all tokens
 * that came of its pair (RFC 9700, section 4.14.2). `revoke`: RFC 7009. A client without a secret is a public one: it may use only
 * what a login brought. Tokens that are asked for with a proof are bound to its key (RFC 9449, section 5).
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
  function token(call: OAuthCall, now: number): Answer {
    const throttledMs = waitMs(now)
    if (throttledMs > 0)
      return refusal(429, 'temporarily_unavailable', 'Too many token calls.', {
        'Retry-After': String(Math.max(1, Math.ceil(throttledMs / 1000))),
      })
    const request = requestIn(call, client)
    if ('status' in request) return request
    const { form, isPublic } = request
    const proof = call.headers.dpop === undefined ? { jkt: undefined } : proofs.read(call, now / 1000)
    if (isRefused(proof)) return refusal(400, proof.error, 'The proof is not good, or lacks the nonce of this answer.')
    const { jkt } = proof
    const grant = form.get('grant_type')
    if (grant === null) return refusal(400, 'invalid_request', 'grant_type is missing.')
    if (grant === 'client_credentials')
      return isPublic ? UNKNOWN_CLIENT : tokens(ledger.issuePair(now, newFamily({ jkt })), jkt)
    if (grant !== 'refresh_token')
      return refusal(400, 'unsupported_grant_type', 'grant_type must be client_credentials or refresh_token.')
    return rotated(form.get('refresh_token'), isPublic, jkt, now)
  }

  function rotated(refresh: string | null, isPublic: boolean, jkt: string | undefined, now: number): Answer {
    if (refresh === null) return refusal(400, 'invalid_request', 'refresh_token is missing.')
    if (isPublic && isConfidential(refresh)) return UNKNOWN_CLIENT
    const family = ledger.familyOf(refresh)
    if (family?.jkt !== undefined && family.jkt !== jkt)
      return refusal(400, 'invalid_grant', 'The refresh token is bound to another key.')
    const pair = ledger.rotate(refresh, now)
    // A login that was not bound belongs to the first key that uses it.
    if (family && pair) family.jkt = jkt
    if (pair) return tokens(pair, jkt)
    ledger.revokeReused(refresh)
    return refusal(400, 'invalid_grant', 'The refresh token is unknown, expired, revoked, or was used before.')
  }

  function revoke(call: OAuthCall): Answer {
    const request = requestIn(call, client)
    if ('status' in request) return request
    const presented = request.form.get('token')
    if (presented === null) return refusal(400, 'invalid_request', 'token is missing.')
    if (request.isPublic && isConfidential(presented)) return UNKNOWN_CLIENT
    ledger.revoke(presented)
    // The same for a token that nobody knows: what the client wants is true (RFC 7009, section 2.2).
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: '' }
  }

  /** Whether the token belongs to the client with the secret. */
  function isConfidential(presented: string): boolean {
    return ledger.familyOf(presented)?.isLogin === false
  }

  function tokens({ access, refresh }: IssuedPair, jkt: string | undefined): Answer {
    const expires_in = settings.accessLifetimeMs / 1000
    const token_type = jkt === undefined ? 'Bearer' : 'DPoP'
    return answer(200, { access_token: access, token_type, expires_in, refresh_token: refresh })
  }

  return { token, revoke }
}

/** Answers `loginEndpoint`: a person logs in, and nobody asks for a password. @param logIn Makes the login. */
export function loginEndpoint(
  { method, body }: Pick<OAuthCall, 'method' | 'body'>,
  logIn: (subject?: string) => SimulatedLogin,
): Answer {
  if (method !== 'POST') return notPost(method)
  const subject = new URLSearchParams(body).get('subject') ?? ''
  return answer(200, logIn(subject === '' ? undefined : subject).answer)
}

/** @returns The answer of a `{ status }` fault. */
export function scriptedRefusal(kind: string, status: number, { headers, body }: MetFault): Answer {
  const usual = refusal(status, wordFor(kind, status), 'A simulated fault.', headers)
  return body === undefined && status >= 400 ? usual : { ...usual, body: body ?? '' }
}

function wordFor(kind: string, status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 429) return 'temporarily_unavailable'
  if (status === 401) return 'invalid_client'
  return kind === 'refresh' && status === 400 ? 'invalid_grant' : 'invalid_request'
}

const FORM = 'application/x-www-form-urlencoded'

/** The form of a call, and whether its client has shown no secret; or the refusal. */
function requestIn(
  { method, headers, body }: OAuthCall,
  client: Readonly<Client>,
): { form: URLSearchParams; isPublic: boolean } | Answer {
  if (method !== 'POST') return notPost(method)
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) return refusal(400, 'invalid_request', `Content-Type must be ${FORM}.`)
  const form = new URLSearchParams(body)
  const presented = clientIn(headers.authorization, form)
  if (presented === 'twice') return refusal(400, 'invalid_request', 'The client must authenticate in one way only.')
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

function answer(status: number, document: object, headers: Record<string, string> = {}): Answer {
  const always = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' }
  return { status, headers: { ...always, ...headers }, body: JSON.stringify(document) }
}

/** RFC 6749, section 5.2. */
function refusal(status: number, error: string, error_description: string, headers?: Record<string, string>): Answer {
  return answer(status, { error, error_description }, headers)
}

function notPost(method: string): Answer {
  return refusal(405, 'invalid_request', `Method ${method} is not allowed.`, { Allow: 'POST' })
}

const UNKNOWN_CLIENT = refusal(401, 'invalid_client', 'The client is not known, or its secret is missing.', {
  'WWW-Authenticate': 'Basic realm="token"',
})
