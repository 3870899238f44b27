import { parseTimestamp, type Timestamp } from './timestamp.ts'

/** The time of a response, or what is wrong with it, for messages. */
export type MetaTime =
  | { readonly timestamp: Timestamp; readonly flaw?: undefined }
  | { readonly timestamp?: undefined; readonly flaw: string }

/**
 * Reads `meta.time` (specification, section 5: the time of the response, which is signed; its format is not specified).
 *
 * `meta.sign` covers `time` and `refresh` as one text without a separator. An attacker who alters responses can therefore move
 * characters from the end of `time` to the start of `refresh`, and the signature stays valid: `…:11.925654Z` and `abc` become
 * `…:11.925654` and `Zabc`. A zone prevents this, because no timestamp with a zone is a prefix of another. A time without a
 * zone is accepted only while the service has never sent a zone, and only if `refresh` does not start with what could be the
 * rest of `time`. If a service never sends a zone, one gap remains: digits of the fraction can still move. The refresh token is then
 * invalid, and the service rejects it.
 *
 * @param zoneWasSeen Whether an earlier accepted `meta.time` had a zone.
 */
export function readMetaTime(time: unknown, refresh: unknown, zoneWasSeen: boolean): MetaTime {
  const timestamp = parseTimestamp(time)
  if (!timestamp) return { flaw: flawOf(time) }
  if (timestamp.hasZone) return { timestamp }
  if (zoneWasSeen) return { flaw: 'meta.time has no zone, and earlier ones had one' }
  if (isCutOff(time, refresh))
    return { flaw: 'meta.time has no zone, and the refresh token begins with one: characters may have been moved' }
  return { timestamp }
}

/** Whether `time`, together with the first characters of `refresh`, is a timestamp with a zone. */
function isCutOff(time: unknown, refresh: unknown): boolean {
  const [rest] = /^\.?\d*(?:Z|[+-]\d\d:?\d\d)/.exec(String(refresh)) ?? []
  return rest !== undefined && parseTimestamp(String(time) + rest) !== undefined
}

/** Describes the format. Does not quote the text, which is untrusted. */
function flawOf(time: unknown): string {
  if ((time ?? '') === '') return 'meta.time is missing'
  const form = formOf(time)
  return `meta.time is ${form}, and must be ISO 8601, such as 2020-12-29T05:42:11.925654Z; if the service always sends this form, only verifySignature: false helps`
}

function formOf(time: unknown): string {
  if (typeof time === 'number') return 'a number'
  if (typeof time !== 'string') return 'not text'
  if (/^\d+(\.\d+)?$/.test(time)) return 'a number in text (epoch seconds or milliseconds?)'
  if (/^[A-Z][a-z]{2,8},? /.test(time)) return 'a date in words (an HTTP date?)'
  if (/^\d{8}T/.test(time)) return 'ISO 8601 without separators'
  if (/^\d{4}-\d\d-\d\d$/.test(time)) return 'a date without a time'
  return /^\d{4}-\d\d-\d\d[Tt ]/.test(time) ? 'like ISO 8601, but with parts that cannot be read' : 'in an unknown form'
}
