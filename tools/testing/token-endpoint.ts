import type { ServiceSettings } from './service-options.ts'
import { slidingWindow } from './throttle.ts'
import type { Reply } from './token-document.ts'
import { reply, mediaType, readAttributes, errorReply, signature, timestamp, tokenObject } from './token-document.ts'
import type { IssuedTokens, TokenLedger } from './token-ledger.ts'

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

export interface TokenRequest {
  kind: 'obtain' | 'refresh'
  method: string
  contentType: string | undefined
  body: string
}

/** @returns A function to call for each request. It returns 0 if the request is allowed (and counted), else the ms until one would be allowed. */
export function throttleOf({ throttle }: ServiceSettings): (now: number) => number {
  return throttle ? slidingWindow(throttle) : () => 0
}

/**
 * Handles token requests as specified (sections 4 and 7): first the throttle, then the format of the request,
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
  return ({ kind, method, contentType, body }: TokenRequest, now: number): Reply => {
    const throttledMs = waitMs(now)
    if (throttledMs > 0)
      return errorReply(429, 'Request was throttled.', 'throttled', {
        'Retry-After': String(Math.max(1, Math.ceil(throttledMs / 1000))),
      })
    if (method !== 'POST') return errorReply(405, `Method ${method} is not allowed.`, undefined, { Allow: 'POST' })
    if (contentType?.split(';')[0]?.trim().toLowerCase() !== mediaType)
      return errorReply(415, `Content-Type must be ${mediaType}.`)
    const attributes = readAttributes(body)
    return kind === 'refresh' ? refresh(attributes, now) : obtain(attributes, now)
  }

  function obtain({ client_id, client_secret, ...others }: Record<string, string>, now: number): Reply {
    if (client_id !== undefined && client_secret !== undefined) {
      if (client_id !== client.clientId || client_secret !== client.clientSecret) return noAccount(400, '2006')
      const { id, access } = ledger.issueAccess(now)
      const expires_in = settings.accessLifetimeMs / 1000
      return reply(200, { data: tokenObject(id, { access, expires_in, token_type: 'Bearer' }) })
    }
    if (others.login === undefined || others.password === undefined)
      return malformed('client_id and client_secret, or login and password')
    if (others.login !== login.login || others.password !== login.password) return noAccount(400, '2006')
    const issued = ledger.issueTokens(now)
    const time = timestamp(now)
    const sign = signature(login.login + login.password, time, issued.refresh)
    return reply(200, { data: tokensObject(issued), meta: { time, sign } })
  }

  function refresh(attributes: Record<string, string>, now: number): Reply {
    if (attributes.refresh === undefined) return malformed('refresh')
    const issued = ledger.rotate(attributes.refresh, now)
    // The token object itself, without `data` and `meta` (specification, section 4.3).
    return issued ? reply(200, tokensObject(issued)) : noAccount(401, '2007')
  }
}

function tokensObject({ id, access, refresh, accessExpiresAt, refreshExpiresAt }: IssuedTokens): object {
  return tokenObject(id, {
    refresh,
    access,
    access_expired_at: timestamp(accessExpiresAt),
    refresh_expired_at: timestamp(refreshExpiresAt),
    is_2fa_confirmed: false,
  })
}

function noAccount(status: number, code: string): Reply {
  return errorReply(status, 'No active account found with the given credentials.', code)
}

function malformed(wanted: string): Reply {
  return errorReply(400, `Expected { data: { type: 'auth-token', attributes } } with the strings ${wanted}.`)
}
