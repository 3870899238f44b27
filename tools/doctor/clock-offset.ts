import { parseHttpDate } from '../../src/wire/http-date.ts'
import type { ClockOffset, Problem } from './findings.ts'
import { member, parsed } from './protocol.ts'
import type { Seen } from './recorder.ts'
import { duration } from './duration.ts'

export function clockOffset({ sentAt, receivedAt, headers, text }: Seen): ClockOffset | undefined {
  const halfWayMs = (receivedAt - sentAt) / 2
  const middle = sentAt + halfWayMs
  const time = timestampIn(member(member(parsed(text), 'meta'), 'time'))
  if (!Number.isNaN(time)) return { aheadMs: time - middle, uncertaintyMs: halfWayMs, by: 'meta.time' }
  const date = parseHttpDate(headers.date, middle)
  // `Date` is truncated to whole seconds: the clock was 0 to 1 000 ms ahead of it.
  return date === undefined ? undefined : { aheadMs: date + 500 - middle, uncertaintyMs: halfWayMs + 500, by: 'Date' }
}

/** Date.parse reads almost any text as a date, and a time without a zone as local time. */
function timestampIn(text: unknown): number {
  const form = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:?\d\d)?$/
  const [, day = '', time = '', zone = 'Z'] = form.exec(typeof text === 'string' ? text : '') ?? []
  return Date.parse(`${day}T${time}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`)
}

/** Beyond this a manager reports the anomaly `clock-skew`. */
const TOLERATED_MS = 60_000

/**
 * @param apiAheadMs By the `Date` of an API at another origin: a third clock, which decides.
 * @returns undefined if the two clocks agree well enough.
 */
export function clockProblem(
  { aheadMs, uncertaintyMs, by }: ClockOffset,
  apiAheadMs: number | undefined,
): Problem | undefined {
  if (Math.abs(aheadMs) - uncertaintyMs <= TOLERATED_MS) return undefined
  const [here, there] = aheadMs > 0 ? ['behind', 'ahead'] : ['ahead of', 'behind']
  const off = duration(Math.abs(aheadMs))
  return {
    step: 'clock',
    code: 'CLOCK_OFF',
    message: `The clock of this machine is ${off} ${here} the clock of the service (± ${duration(uncertaintyMs)}, by ${by})`,
    advice: [
      isNear(apiAheadMs, 0)
        ? `The clock of the API agrees with this machine, so the clock of the service is ${off} ${there}: tell its operator.`
        : isNear(apiAheadMs, aheadMs)
          ? 'The clock of the API agrees with the service: set the clock of this machine (NTP).'
          : `Compare this machine with a time server, and set its clock. If it is right, the clock of the service is ${off} ${there}: tell its operator.`,
    ],
  }
}

function isNear(oneMs: number | undefined, otherMs: number): boolean {
  return oneMs !== undefined && Math.abs(oneMs - otherMs) <= TOLERATED_MS
}
