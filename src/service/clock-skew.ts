import { parseHttpDate } from '../wire/http-date.ts'
import type { Age, Moment } from './service-clock.ts'
import type { Timestamp } from './timestamp.ts'

/** A larger difference is reported. */
const MAX_SKEW_MS = 60_000

/**
 * Describes the clock skew that an accepted response shows, for an anomaly.
 *
 * @param sent When the request was sent, by this machine's clocks.
 * @param date The `Date` header of the response.
 * @returns Undefined if there is none.
 */
export function clockSkew(age: Age, time: Timestamp, sent: Moment, date: unknown): string | undefined {
  if (age === 'set-back') return 'The service has set its clock back: meta.time is before that of an earlier response'
  const others = [
    {
      name: 'this machine’s clock',
      aheadMs: time.at - sent.wall,
      advice: 'set this clock (NTP), or, if it is right, tell the operator of the service',
    },
    {
      name: 'the Date of the response',
      aheadMs: time.at - (parseHttpDate(date, sent.wall) ?? time.at),
      advice: 'ask the operator of the service, or of a proxy in front of it',
    },
  ].filter(({ aheadMs }) => Math.abs(aheadMs) > MAX_SKEW_MS)
  if (others.length === 0) return undefined
  return `meta.time is ${others.map(({ name, aheadMs }) => `${difference(aheadMs)} ${name}`).join(', and ')}: ${others.at(-1)?.advice}`
}

/** @returns e.g. `61 min ahead of` */
function difference(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000)
  const amount = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `${amount} ${ms > 0 ? 'ahead of' : 'behind'}`
}
