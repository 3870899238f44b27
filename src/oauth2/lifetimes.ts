import { parseHttpDate } from '../wire/http-date.ts'
import { memberOf, type Members } from './document.ts'

/** The members with the lifetime or the expiry of an access token; the first readable one counts. RFC 6749; Strava; Entra v1; Facebook; ASP.NET. */
export const ACCESS = ['expires_in', 'expires_at', 'expires_on', 'expires', '.expires']
/** The same for refresh tokens: GitHub, Keycloak, QuickBooks. No RFC defines them. */
const REFRESH = [
  'refresh_token_expires_in',
  'refresh_expires_in',
  'x_refresh_token_expires_in',
  'refresh_token_expires_at',
  'refresh_expires_at',
]

/** A lifetime in ms, and the member that holds it. */
export interface FoundLifetime {
  readonly name: string
  readonly ms: number
}

/**
 * @param names Members that hold a lifetime or an instant (F370).
 * @param now Epoch ms, to turn an instant into a lifetime.
 * @returns The first readable one, negative if the instant has passed.
 */
export function lifetimeAmong(document: Members, names: readonly string[], now: number): FoundLifetime | undefined {
  for (const name of names) {
    const ms = lifetimeOf(memberOf(document, name), now)
    if (ms !== undefined) return { name, ms }
  }
  return undefined
}

/** @returns The lifetime of the refresh token, ms, if the server sends it. An unusable one is ignored. */
export function refreshLifetimeIn(document: Members, now: number): number | undefined {
  const ms = lifetimeAmong(document, REFRESH, now)?.ms ?? 0
  return ms > 0 ? ms : undefined
}

/** A member may hold seconds, an instant in epoch seconds or ms, either of them as text, an HTTP-date, or ISO 8601. Only the value shows which. */
function lifetimeOf(value: unknown, now: number): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
  const number = isNumber ? Number(value) : NaN
  const at = Number.isNaN(number) ? instantIn(value) : isOfOurTime(number * 1_000) ? number * 1_000 : number
  if (at !== undefined && isOfOurTime(at)) return at - now
  return Number.isFinite(number * 1_000) ? number * 1_000 : undefined
}

/** Whether the instant is from 2001 to 2100. As a lifetime, the lower bound would be 31 years. */
function isOfOurTime(at: number): boolean {
  return at >= 1e12 && at <= 4.1e12
}

function instantIn(text: unknown): number | undefined {
  const form = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/
  const [, day, time = '', zone = 'Z'] = form.exec(String(text)) ?? []
  return day === undefined ? parseHttpDate(text) : Date.parse(`${day}T${time}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`)
}
