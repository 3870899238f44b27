/** IMF-fixdate, and the two obsolete forms that a recipient must accept (RFC 9110, section 5.6.7). */
const HTTP_DATES = [
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) [A-Z][a-z]{2} \d{4} \d\d:\d\d:[0-5]\d GMT$/,
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-[A-Z][a-z]{2}-\d\d \d\d:\d\d:[0-5]\d GMT$/,
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} ([ \d]\d) \d\d:\d\d:[0-5]\d \d{4}$/,
]

/** @returns Epoch ms, undefined for anything but an HTTP-date. */
export function parseHttpDate(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined
  const day = HTTP_DATES.map((form) => form.exec(text)?.[1]).find((found) => found !== undefined)
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`)
  // Date.parse makes 2 March of 30 February.
  return new Date(at).getUTCDate() === Number(day) ? at : undefined
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3: whole seconds or an HTTP-date; everything else is ignored).
 *
 * @param date The response's own `Date`: a date is measured against the clock that wrote it.
 * @param wallNow Used where the response has no date, epoch ms.
 * @returns Ms from now, never negative; undefined when there is nothing to believe.
 */
export function parseRetryAfter(retryAfter: unknown, date: unknown, wallNow: number): number | undefined {
  if (typeof retryAfter !== 'string') return undefined
  if (/^\d+$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1_000, Number.MAX_VALUE)
  const at = parseHttpDate(retryAfter)
  return at === undefined ? undefined : Math.max(0, at - (parseHttpDate(date) ?? wallNow))
}
