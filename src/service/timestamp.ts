const ISO_8601 =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(\d\d))[T ]((?:[01]\d|2[0-3]):[0-5]\d:)([0-5]\d|60)(?:\.(\d{1,9}))?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$/

export interface Timestamp {
  /** Epoch ms, rounded down. */
  readonly at: number
  /** The part of `at` below one ms, in ns: it orders two timestamps within one ms. */
  readonly restNs: number
  readonly hasZone: boolean
}

/**
 * Reads a timestamp as the specification shows it (section 2.4: ISO 8601, UTC, microseconds), and as it is seen in the
 * field: with a space in place of `T`, with an offset (`+03:00` or `+0300`), without a fraction. Without a zone it is UTC, as
 * the specification says. `Date.parse` would take it for local time, roll 30 February over, and know no leap second.
 *
 * @returns undefined for anything else.
 */
export function parseTimestamp(text: unknown): Timestamp | undefined {
  const match = typeof text === 'string' ? ISO_8601.exec(text) : null
  if (!match) return undefined
  const [, date, day, upToMinute, second, fraction = '', zone] = match
  const isLeap = second === '60'
  const localAt = Date.parse(`${date}T${upToMinute}00Z`)
  if (new Date(localAt).getUTCDate() !== Number(day)) return undefined
  const minuteAt = localAt - offsetMs(zone ?? 'Z')
  // A leap second ends a day of UTC; it counts as the last moment of the second before it.
  if (isLeap && new Date(minuteAt).toISOString().slice(11, 16) !== '23:59') return undefined
  const ns = isLeap ? '999' : fraction
  const ms = Number(isLeap ? 59 : second) * 1_000 + Number(ns.padEnd(3, '0').slice(0, 3))
  return {
    at: minuteAt + ms,
    // `at` stands still within a leap second, and `restNs` keeps the order.
    restNs: isLeap ? 1_000_000 + Number(`0.${fraction}`) : Number(ns.padEnd(9, '0').slice(3)),
    hasZone: zone !== undefined,
  }
}

/** Whether `later` is after `earlier`, to the nanosecond. */
export function isAfter(later: Timestamp, earlier: Timestamp): boolean {
  return later.at === earlier.at ? later.restNs > earlier.restNs : later.at > earlier.at
}

function offsetMs(zone: string): number {
  if (zone === 'Z') return 0
  const ms = Date.parse(`1970-01-01T${zone.slice(1, 3)}:${zone.slice(-2)}Z`)
  return zone.startsWith('-') ? -ms : ms
}
