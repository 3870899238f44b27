import { parseHttpDate } from '../wire/http-date.ts'
import type { Age, Moment } from './service-clock.ts'
import type { Timestamp } from './timestamp.ts'

/** A larger difference between two clocks is reported. */
const CLOCK_OFF_MS = 60_000

/**
 * What an accepted answer shows about clocks, for a message.
 *
 * @param sent When its request was sent, by this machine's clocks.
 * @param date The answer's `Date` header.
 * @returns undefined if nothing is odd.
 */
export function clockTrouble(age: Age, time: Timestamp, sent: Moment, date: unknown): string | undefined {
  if (age === 'set-back') return 'The service has set its clock back: meta.time is before that of an earlier answer'
  const others = [
    { name: 'this machine’s clock', aheadMs: time.at - sent.wall, advice: 'set the clock of this machine (NTP)' },
    {
      name: 'the Date of the answer',
      aheadMs: time.at - (parseHttpDate(date, sent.wall) ?? time.at),
      advice: 'tell the operator of the service, or of a proxy before it',
    },
  ].filter(({ aheadMs }) => Math.abs(aheadMs) > CLOCK_OFF_MS)
  if (others.length === 0) return undefined
  return `meta.time is ${others.map(({ name, aheadMs }) => `${difference(aheadMs)} ${name}`).join(', and ')}: ${others.at(-1)?.advice}`
}

/** @returns e.g. `61 min ahead of` */
function difference(ms: number): string {
  const minutes = Math.round(Math.abs(ms) / 60_000)
  const amount = minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  return `${amount} ${ms > 0 ? 'ahead of' : 'behind'}`
}
