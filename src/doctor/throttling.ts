import { parseHttpDate } from '../wire/http-date.ts'
import type { Seen } from './recorder.ts'

/** Those of RFC 9110, of the draft on RateLimit headers, and the older ones that large services send. */
const KNOWN = /^(?:retry-after|(?:x-)?rate-?limit-(?:limit|remaining|reset|used)(?:-(?:second|minute|hour|day))?)$/

/**
 * The headers of an answer that tell of a limit of calls. Other names are not told, and of the values only digits and dates: other text may repeat a secret
 * that was sent.
 */
export function throttlingHeaders({ headers }: Seen): Record<string, string> {
  const known = Object.entries(headers).filter(([name]) => KNOWN.test(name.toLowerCase()))
  return Object.fromEntries(known.map(([name, value]) => [name.toLowerCase(), shown(String(value))]))
}

function shown(text: string): string {
  return /^\d{1,12}$/.test(text) || parseHttpDate(text) !== undefined ? text : '(not shown)'
}
