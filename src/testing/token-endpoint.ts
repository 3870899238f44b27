import type { ServiceSettings } from './service-options.ts'
import { slidingWindow } from './throttle.ts'
import type { Answer } from './token-document.ts'
import { answer, mediaType, readAttributes, refusal, signature, timestamp, tokenObject } from './token-document.ts'
import type { IssuedPair, TokenLedger } from './token-ledger.ts'

/** What Variant A presents as `client_id` and `client_secret`. */
export interface Client {
  clientId: string
  clientSecret: string
}

/** What Variant B presents as `login` and `password`. */
export interface Login {
  login: string
  password: string
}

export interface TokenCall {
  kind: 'obtain' | 'refresh'
  method: string
  contentType: string | undefined
  body: string
}

/** @returns A function to ask at each call: 0 if the call is allowed (and counted), else the ms until a call will be. */
export function throttleOf({ throttle }: ServiceSettings): (now: number) => number {
  return throttle ? slidingWindow(throttle) : () => 0
}

/**
 * Answers token calls as the specification says (sections 4 and 7): first the throttle, then the form of the request,
 * then the credentials. Issues and rotates tokens in the given ledger.
 *
 * @param waitMs The throttle (see `throttleOf`).
 * @returns a function of one call and the instant it was received, epoch ms by the service's clock.
 */
export function tokenEndpoint(
  settings: ServiceSettings,
  ledger: TokenLedger,
  client: Readonly<Client>,
  login: Readonly<Login>,
  waitMs = throttleOf(settings),
) {
  return ({ kind, method, contentType, body }: TokenCall, now: number): Answer => {
    const throttledMs = waitMs(now)
    if (throttledMs > 0)
      return refusal(429, 'Request was throttled.', 'throttled', {
        'Retry-After': String(Math.max(1, Math.ceil(throttledMs / 1000))),
      })
    if (method !== 'POST') return refusal(405, `Method ${method} is not allowed.`, undefined, { Allow: 'POST' })
    if (contentType?.split(';')[0]?.trim().toLowerCase() !== mediaType)
      return refusal(415, `Content-Type must be ${mediaType}.`)
    const attributes = readAttributes(body)
    return kind === 'refresh' ? refresh(attributes, now) : obtain(attributes, now)
  }

  function obtain({ client_id, client_secret, ...others }: Record<string, string>, now: number): Answer {
    if (client_id !== undefined && client_secret !== undefined) {
      if (client_id !== client.clientId || client_secret !== client.clientSecret) return noAccount(400, '2006')
      const { id, access } = ledger.issueAccess(now)
      const expires_in = settings.accessLifetimeMs / 1000
      return answer(200, { data: tokenObject(id, { access, expires_in, token_type: 'Bearer' }) })
    }
    if (others.login === undefined || others.password === undefined)
      return malformed('client_id and client_secret, or login and password')
    if (others.login !== login.login || others.password !== login.password) return noAccount(400, '2006')
    const pair = ledger.issuePair(now)
    const time = timestamp(now)
    const sign = signature(login.login + login.password, time, pair.refresh)
    return answer(200, { data: pairObject(pair), meta: { time, sign } })
  }

  function refresh(attributes: Record<string, string>, now: number): Answer {
    if (attributes.refresh === undefined) return malformed('refresh')
    const pair = ledger.rotate(attributes.refresh, now)
    // The token object itself, without `data` and `meta` (specification, section 4.3).
    return pair ? answer(200, pairObject(pair)) : noAccount(401, '2007')
  }
}

function pairObject({ id, access, refresh, accessExpiresAt, refreshExpiresAt }: IssuedPair): object {
  return tokenObject(id, {
    refresh,
    access,
    access_expired_at: timestamp(accessExpiresAt),
    refresh_expired_at: timestamp(refreshExpiresAt),
    is_2fa_confirmed: false,
  })
}

function noAccount(status: number, code: string): Answer {
  return refusal(status, 'No active account found with the given credentials.', code)
}

function malformed(wanted: string): Answer {
  return refusal(400, `Expected { data: { type: 'auth-token', attributes } } with the strings ${wanted}.`)
}
