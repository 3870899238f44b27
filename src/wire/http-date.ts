const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** IMF-fixdate, and the two obsolete forms that a recipient must accept (RFC 9110, section 5.6.7). */
const HTTP_DATES = /* @__PURE__ */ [
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\d\d) MONTH YEAR TIME GMT`,
  String.raw`(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\d\d)-MONTH-(?<year>\d\d) TIME GMT`,
  String.raw`(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) MONTH (?<day>[ \d]\d) TIME YEAR`,
].map((form) => {
  const source = form
    .replace('MONTH', `(?<month>${MONTHS.join('|')})`)
    .replace('YEAR', String.raw`(?<year>[1-9]\d{3})`)
    .replace('TIME', String.raw`(?<time>(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)`)
  return new RegExp(`^${source}$`)
})

/**
 * Reads an HTTP-date, strictly: `Date.parse` takes the year 0094 for 1994.
 *
 * @param wallNow Tells the century of a year of two digits, epoch ms. Without it such a year is one of 1950 to 2049.
 * @returns Epoch ms, undefined for anything but an HTTP-date.
 */
export function parseHttpDate(text: unknown, wallNow = NaN): number | undefined {
  if (typeof text !== 'string') return undefined
  const parts = HTTP_DATES.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined)
  if (!parts) return undefined
  const { day = '', month = '', year = '', time = '' } = parts
  const fullYear = year.length === 2 ? nearYear(Number(year), wallNow) : Number(year)
  const [hours, minutes, seconds] = time.split(':').map(Number)
  const at = Date.UTC(fullYear, MONTHS.indexOf(month), Number(day), hours, minutes, seconds)
  // Date.UTC makes 2 March of 30 February.
  return new Date(at).getUTCDate() === Number(day) ? at : undefined
}

/** The year that ends in these two digits and lies at most 50 years ahead, as RFC 9110, section 5.6.7, wants it. */
function nearYear(twoDigits: number, wallNow: number): number {
  const thisYear = new Date(wallNow).getUTCFullYear()
  const latest = Number.isNaN(thisYear) ? 2049 : thisYear + 50
  return latest - ((latest - twoDigits) % 100)
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
  const at = parseHttpDate(retryAfter, wallNow)
  return at === undefined ? undefined : Math.max(0, at - (parseHttpDate(date, wallNow) ?? wallNow))
}
