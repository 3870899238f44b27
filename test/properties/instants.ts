import * as fc from 'fast-check'

/** An instant, and the form in which it is written. */
export interface Instant {
  /** Nanoseconds since the epoch, truncated to the written digits. */
  readonly ns: bigint
  readonly digits: number
  /** Offset in minutes; 'Z'; or undefined: no zone is written. */
  readonly zone: number | 'Z' | undefined
  /** Between date and time. */
  readonly between: 'T' | ' '
  /** Between the hours and the minutes of an offset. */
  readonly colon: ':' | ''
}

const DAY_NS = 24n * 3_600n * 1_000_000_000n
const AT = (year: number) => BigInt(Date.UTC(year)) * 1_000_000n

/** Instants of the years 1 to 9998, so that the year has four digits in every zone. */
export const instants: fc.Arbitrary<Instant> = fc
  .record({
    ns: fc.oneof(
      fc.bigInt({ min: AT(1970) - 719_162n * DAY_NS + DAY_NS, max: AT(9999) - DAY_NS }),
      fc.bigInt({ min: AT(2020), max: AT(2030) }),
    ),
    digits: fc.constantFrom(0, 1, 3, 6, 6, 7, 9),
    zone: fc.oneof(fc.constantFrom('Z' as const, undefined), fc.integer({ min: -1_439, max: 1_439 })),
    between: fc.constantFrom('T', ' '),
    colon: fc.constantFrom(':', ''),
  })
  .map(({ ns, ...form }) => ({ ns: ns - mod(ns, 10n ** BigInt(9 - form.digits)), ...form }))

/** ISO 8601, as the specification shows it (section 2.4) and as it occurs in practice. */
export function spelt({ ns, digits, zone, between, colon }: Instant): string {
  const offset = typeof zone === 'number' ? zone : 0
  const ms = Number((ns - mod(ns, 1_000_000n)) / 1_000_000n) + offset * 60_000
  const fraction = mod(ns, 1_000_000_000n).toString().padStart(9, '0').slice(0, digits)
  const seconds = new Date(ms).toISOString().slice(0, 19).replace('T', between)
  return `${seconds}${digits > 0 ? `.${fraction}` : ''}${zoneText(zone, colon)}`
}

function zoneText(zone: Instant['zone'], colon: string): string {
  if (typeof zone !== 'number') return zone ?? ''
  const part = (value: number) => String(value).padStart(2, '0')
  const minutes = Math.abs(zone)
  return `${zone < 0 ? '-' : '+'}${part(Math.floor(minutes / 60))}${colon}${part(minutes % 60)}`
}

/** Never negative. */
export function mod(value: bigint, by: bigint): bigint {
  return ((value % by) + by) % by
}
