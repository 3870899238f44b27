import { parseHttpDate } from '../wire/http-date.ts'
import { memberOf, type Members } from './document.ts'

/** Where servers say how long a token lives, or until when; the first that can be read counts. RFC 6749; Strava; Entra v1; Facebook; ASP.NET. */
export const ACCESS = ['expires_in', 'expires_at', 'expires_on', 'expires', '.expires']
/** GitHub, Keycloak, QuickBooks. No RFC has them. */
const REFRESH = [
  'refresh_token_expires_in',
  'refresh_expires_in',
  'x_refresh_token_expires_in',
  'refresh_token_expires_at',
  'refresh_expires_at',
]

/** A lifetime in ms, and the member that has it. */
export interface ToldLifetime {
  readonly name: string
  readonly ms: number
}

/**
 * @param names One table of names for lifetimes and instants (F370).
 * @param now Epoch ms: an instant counts from here.
 * @returns The first that can be read, also if it has passed.
 */
export function lifetimeAmong(document: Members, names: readonly string[], now: number): ToldLifetime | undefined {
  for (const name of names) {
    const ms = lifetimeOf(memberOf(document, name), now)
    if (ms !== undefined) return { name, ms }
  }
  return undefined
}

/** @returns The lifetime of the refresh token, ms, from servers that send it. One that cannot be used is ignored. */
export function refreshLifetimeIn(document: Members, now: number): number | undefined {
  const ms = lifetimeAmong(document, REFRESH, now)?.ms ?? 0
  return ms > 0 ? ms : undefined
}

/** Any name may hold seconds, an instant in epoch seconds or ms, or a text of either, an HTTP-date, or ISO 8601: only the value tells which. */
function lifetimeOf(value: unknown, now: number): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value))
  const number = isNumber ? Number(value) : NaN
  const at = Number.isNaN(number) ? instantIn(value) : isOfOurTime(number * 1_000) ? number * 1_000 : number
  if (at !== undefined && isOfOurTime(at)) return at - now
  return Number.isFinite(number * 1_000) ? number * 1_000 : undefined
}

/** From 2001 to 2100. As seconds, the lower end is a lifetime of 31 years. */
function isOfOurTime(at: number): boolean {
  return at >= 1e12 && at <= 4.1e12
}

function instantIn(text: unknown): number | undefined {
  const form = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?$/
  const [, day, time = '', zone = 'Z'] = form.exec(String(text)) ?? []
  return day === undefined ? parseHttpDate(text) : Date.parse(`${day}T${time}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`)
}
