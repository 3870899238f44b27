import { parseHttpDate } from '../../src/wire/http-date.ts'
import type { Seen } from './recorder.ts'

/** The headers of RFC 9110, of the draft on RateLimit headers, and the older ones of large services. */
const KNOWN = /^(?:retry-after|(?:x-)?rate-?limit-(?:limit|remaining|reset|used)(?:-(?:second|minute|hour|day))?)$/

/**
 * The headers of a response about a rate limit: only known names, and only digits and dates of their values, because other text may repeat a secret
 * that was sent.
 */
export function throttlingHeaders({ headers }: Seen): Record<string, string> {
  const known = Object.entries(headers).filter(([name]) => KNOWN.test(name.toLowerCase()))
  return Object.fromEntries(known.map(([name, value]) => [name.toLowerCase(), shown(String(value))]))
}

function shown(text: string): string {
  return /^\d{1,12}$/.test(text) || parseHttpDate(text) !== undefined ? text : '(not shown)'
}
