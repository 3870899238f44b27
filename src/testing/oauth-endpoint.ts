import type { IncomingHttpHeaders } from 'node:http'
import type { MetFault } from './fault-queue.ts'
import type { ServiceSettings } from './service-options.ts'
import type { Answer } from './token-document.ts'
import type { Client } from './token-endpoint.ts'
import type { IssuedPair, TokenLedger } from './token-ledger.ts'

export interface OAuthCall {
  method: string
  headers: IncomingHttpHeaders
  body: string
}

/** Whether the token call presents a refresh token. */
export function isRefresh(body: string): boolean {
  return new URLSearchParams(body).get('grant_type') === 'refresh_token'
}

/**
 * Answers token calls as OAuth 2.0 says (RFC 6749, sections 2.3, 4.4, 5 and 6): first the throttle, then the form of the
 * request, then the client, then the grant. The second use of a refresh token revokes all tokens that came of its pair (RFC
 * 9700, section 4.14.2).
 *
 * @param waitMs The throttle (see `throttleOf`).
 * @returns a function of one call and the instant it was received, epoch ms by the service's clock.
 */
export function oauthEndpoint(
  settings: ServiceSettings,
  ledger: TokenLedger,
  client: Readonly<Client>,
  waitMs: (now: number) => number,
) {
  return ({ method, headers, body }: OAuthCall, now: number): Answer => {
    const throttledMs = waitMs(now)
    if (throttledMs > 0)
      return refusal(429, 'temporarily_unavailable', 'Too many token calls.', {
        'Retry-After': String(Math.max(1, Math.ceil(throttledMs / 1000))),
      })
    if (method !== 'POST') return refusal(405, 'invalid_request', `Method ${method} is not allowed.`, { Allow: 'POST' })
    const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
    if (type !== FORM) return refusal(400, 'invalid_request', `Content-Type must be ${FORM}.`)
    const form = new URLSearchParams(body)
    const presented = clientIn(headers.authorization, form)
    if (presented === 'twice') return refusal(400, 'invalid_request', 'The client must authenticate in one way only.')
    if (presented?.clientId !== client.clientId || presented.clientSecret !== client.clientSecret)
      return refusal(401, 'invalid_client', 'The client is not known.', { 'WWW-Authenticate': 'Basic realm="token"' })
    return granted(form, now)
  }

  function granted(form: URLSearchParams, now: number): Answer {
    const grant = form.get('grant_type')
    if (grant === null) return refusal(400, 'invalid_request', 'grant_type is missing.')
    if (grant === 'client_credentials') return tokens(ledger.issuePair(now))
    if (grant !== 'refresh_token')
      return refusal(400, 'unsupported_grant_type', 'grant_type must be client_credentials or refresh_token.')
    const refresh = form.get('refresh_token')
    if (refresh === null) return refusal(400, 'invalid_request', 'refresh_token is missing.')
    const pair = ledger.rotate(refresh, now)
    if (pair) return tokens(pair)
    ledger.revokeReused(refresh)
    return refusal(400, 'invalid_grant', 'The refresh token is unknown, expired, revoked, or was used before.')
  }

  function tokens({ access, refresh }: IssuedPair): Answer {
    const expires_in = settings.accessLifetimeMs / 1000
    return answer(200, { access_token: access, token_type: 'Bearer', expires_in, refresh_token: refresh })
  }
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

/** Id and secret, in the header or in the body (RFC 6749, section 2.3.1). */
function clientIn(authorization: string | undefined, form: URLSearchParams): Partial<Client> | 'twice' | undefined {
  const basic = /^basic +([\w+/]+=*)$/i.exec(authorization ?? '')?.[1]
  const [clientId, clientSecret] = [form.get('client_id'), form.get('client_secret')]
  if (basic === undefined) return clientId === null || clientSecret === null ? undefined : { clientId, clientSecret }
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
