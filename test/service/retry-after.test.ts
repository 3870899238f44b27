import { describe, expect, it, jest } from '@jest/globals'
import { parseHttpDate, parseRetryAfter } from '../../src/wire/http-date.ts'
import { readElsewhere } from './zones.ts'
import { dice } from '../../scripts/lib/dice.mjs'

/** The instant of the examples in RFC 9110, section 5.6.7. */
const AT = Date.UTC(1994, 10, 6, 8, 49, 37)

const utc = (at: number) => new Date(at).toUTCString()

describe('given an HTTP-date', () => {
  const FORMS = [
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['the obsolete form of RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['the obsolete form of asctime', 'Sun Nov  6 08:49:37 1994'],
  ] as const

  it.each(FORMS)('when it is %s, then it is that instant', (_, text) => {
    expect(parseHttpDate(text)).toBe(AT)
  })

  it('when the process runs in another time zone, then it is the same instant', () => {
    const texts = FORMS.map(([, text]) => text)
    for (const there of readElsewhere('wire/http-date', 'parseHttpDate', texts)) expect(there).toEqual([AT, AT, AT])
  })

  it.each([
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
    ['Thu, 29 Feb 2024 23:59:59 GMT', Date.UTC(2024, 1, 29, 23, 59, 59)],
    ['Tue, 29 Feb 2000 00:00:00 GMT', Date.UTC(2000, 1, 29)],
    ['Thu, 31 Dec 2026 23:59:59 GMT', Date.UTC(2026, 11, 31, 23, 59, 59)],
    ['Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59)],
    ['Wednesday, 09-Nov-94 08:49:37 GMT', Date.UTC(1994, 10, 9, 8, 49, 37)],
    ['Wednesday, 06-May-26 08:49:37 GMT', Date.UTC(2026, 4, 6, 8, 49, 37)],
    ['Wed Nov 16 08:49:37 1994', Date.UTC(1994, 10, 16, 8, 49, 37)],
  ])('when it is %s, then it is read to the second', (text, at) => {
    expect(parseHttpDate(text)).toBe(at)
  })

  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

  it.each(months.map((name, month) => [name, month] as const))(
    'when its month is %s, then that month counts',
    (_, month) => {
      const at = Date.UTC(2026, month, 9, 1, 2, 3)
      expect(parseHttpDate(new Date(at).toUTCString())).toBe(at)
    },
  )

  it.each([
    ['30 February', 'Mon, 30 Feb 2026 08:49:37 GMT'],
    ['29 February of a common year', 'Sun, 29 Feb 2026 08:49:37 GMT'],
    ['29 February 1900', 'Thu, 29 Feb 1900 08:49:37 GMT'],
    ['31 April', 'Fri, 31 Apr 2026 08:49:37 GMT'],
    ['31 April, in the form of RFC 850', 'Friday, 31-Apr-26 08:49:37 GMT'],
    ['31 April, in the form of asctime', 'Fri Apr 31 08:49:37 2026'],
    ['day 0', 'Sun, 00 Nov 2026 08:49:37 GMT'],
    ['day 32', 'Sun, 32 Dec 2026 08:49:37 GMT'],
    ['hour 24', 'Sun, 06 Nov 1994 24:00:00 GMT'],
    ['hour 25', 'Sun, 06 Nov 1994 25:00:00 GMT'],
    ['minute 60', 'Sun, 06 Nov 1994 08:60:00 GMT'],
    ['second 61', 'Sun, 06 Nov 1994 08:49:61 GMT'],
    ['second 99', 'Sunday, 06-Nov-94 08:49:99 GMT'],
    ['second 61, in the form of asctime', 'Sun Nov  6 08:49:61 1994'],
    ['an unknown month', 'Sun, 06 Foo 1994 08:49:37 GMT'],
    ['a month in capitals', 'Sun, 06 NOV 1994 08:49:37 GMT'],
    ['a month in full', 'Sun, 06 November 1994 08:49:37 GMT'],
    ['a day of one digit', 'Sun, 6 Nov 1994 08:49:37 GMT'],
    ['a year of two digits', 'Sun, 06 Nov 94 08:49:37 GMT'],
    ['a year of five digits', 'Sun, 06 Nov 11994 08:49:37 GMT'],
    ['no seconds', 'Sun, 06 Nov 1994 08:49 GMT'],
    ['a fraction', 'Sun, 06 Nov 1994 08:49:37.5 GMT'],
    ['no weekday', '06 Nov 1994 08:49:37 GMT'],
    ['no comma', 'Sun 06 Nov 1994 08:49:37 GMT'],
    ['no zone', 'Sun, 06 Nov 1994 08:49:37'],
    ['the zone UTC', 'Sun, 06 Nov 1994 08:49:37 UTC'],
    ['the zone Z', 'Sun, 06 Nov 1994 08:49:37 Z'],
    ['an offset', 'Sun, 06 Nov 1994 08:49:37 +0000'],
    ['an offset after GMT', 'Sun, 06 Nov 1994 08:49:37 GMT+0100'],
    ['the zone of Los Angeles', 'Sun, 06 Nov 1994 08:49:37 PST'],
    ['lower-case gmt', 'Sun, 06 Nov 1994 08:49:37 gmt'],
    ['asctime with a zone', 'Sun Nov  6 08:49:37 1994 GMT'],
    ['asctime with one space', 'Sun Nov 6 08:49:37 1994'],
    ['two spaces', 'Sun,  06 Nov 1994 08:49:37 GMT'],
    ['tabs', 'Sun,\t06 Nov 1994 08:49:37 GMT'],
    ['a leading space', ' Sun, 06 Nov 1994 08:49:37 GMT'],
    ['a trailing space', 'Sun, 06 Nov 1994 08:49:37 GMT '],
    ['a trailing line break', 'Sun, 06 Nov 1994 08:49:37 GMT\n'],
    ['a comment', 'Sun, 06 Nov 1994 08:49:37 GMT (now)'],
    ['two dates', 'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT'],
    ['ISO 8601', '1994-11-06T08:49:37Z'],
    ['epoch seconds', '784111777'],
    ['digits of another script', 'Sun, ０６ Nov 1994 08:49:37 GMT'],
    ['nothing', ''],
    ['blanks', '   '],
    ['GMT', 'GMT'],
    ['words', 'tomorrow'],
  ])('when it has %s, then it is not a date', (_, text) => {
    expect(parseHttpDate(text)).toBeUndefined()
  })

  it.each([
    'Sun, 06 Nov 0000 08:49:37 GMT',
    'Sun, 06 Nov 0094 08:49:37 GMT',
    'Sun, 06 Nov 0999 08:49:37 GMT',
    'Sun Nov  6 08:49:37 0094',
    'Sun Nov  6 08:49:37 0999',
  ])('when it is %s, with a year below 1000, then it is not a date (F175)', (text) => {
    expect(parseHttpDate(text)).toBeUndefined()
    expect(parseRetryAfter(text, undefined, AT)).toBeUndefined()
    expect(parseRetryAfter(utc(AT + 60_000), text, AT)).toBe(60_000)
  })

  it.each(['Nox', 'Mai', 'Okt', 'jan', 'JAN', 'GMT', 'Sun', 'Now'])(
    'when its month is %s, which does not exist, then it is not a date, whatever the engine makes of it (F175)',
    (month) => {
      jest.spyOn(Date, 'parse').mockReturnValue(AT)
      const texts = [`Sun, 06 ${month} 1994 08:49:37 GMT`, `Sunday, 06-${month}-94 08:49:37 GMT`]
      expect([...texts, `Sun ${month}  6 08:49:37 1994`].map((text) => parseHttpDate(text))).toEqual(
        Array(3).fill(undefined),
      )
    },
  )

  it.each([
    [2026, 76, 2076],
    [2026, 77, 1977],
    [2026, 26, 2026],
    [2026, 99, 1999],
    [2026, 0, 2000],
    [2049, 50, 2050],
    [2070, 0, 2100],
    [2070, 20, 2120],
    [2070, 21, 2021],
  ])(
    'when it is %d and the year is %d, then that is %d: the nearest within 50 years ahead (F175)',
    (now, two, year) => {
      const text = `Sunday, 06-Nov-${String(two).padStart(2, '0')} 08:49:37 GMT`
      expect(parseHttpDate(text, Date.UTC(now, 5))).toBe(Date.UTC(year, 10, 6, 8, 49, 37))
    },
  )

  it.each(['Sun, 06 Nov 1994 08:49:60 GMT', 'Sunday, 06-Nov-94 08:49:60 GMT', 'Sun Nov  6 08:49:60 1994'])(
    'when it is %s, a leap second, then it is read as no earlier instant, or not at all',
    (text) => {
      expect(parseHttpDate(text) ?? Infinity).toBeGreaterThanOrEqual(Date.UTC(1994, 10, 6, 8, 49, 59))
    },
  )

  it.each(['Xyz, 06 Nov 1994 08:49:37 GMT', 'Someday, 06-Nov-94 08:49:37 GMT', 'Xyz Nov  6 08:49:37 1994'])(
    'when it is %s, with an unknown weekday, then it is not a date',
    (text) => {
      expect(parseHttpDate(text)).toBeUndefined()
    },
  )

  it.each([undefined, null, 0, AT, NaN, true, new Date(AT), ['Sun, 06 Nov 1994 08:49:37 GMT'], {}, Symbol('s')])(
    'when it is %p, which is not a string, then it is not a date',
    (value) => {
      expect(parseHttpDate(value)).toBeUndefined()
    },
  )
})

describe('given Retry-After in seconds, or in a similar form (F47, P7)', () => {
  const read = (value: unknown) => parseRetryAfter(value, undefined, AT)

  it.each([
    ['0', 0],
    ['1', 1_000],
    ['120', 120_000],
    ['00120', 120_000],
    ['300', 300_000],
    ['1000000000', 1e12],
  ])('when it is %s, then the pause is %d ms (F44, F45)', (text, ms) => {
    expect(read(text)).toBe(ms)
  })

  it.each(['9'.repeat(20), '9'.repeat(309), '9'.repeat(400)])(
    'when it is %s, then the pause is very long, not short (F45)',
    (text) => {
      expect(read(text)).toBeGreaterThan(1e20)
    },
  )

  it.each([
    ...['', ' ', '  ', '-5', '-0', '+5', '1.5', '.5', '5.', '1e3', '0x10', '0b1', '0o7', '1_000', '1,000', '5s', '5 s'],
    ...[' 5', '5 ', '\t5', '5\n', '5\0', '5;', '"5"', '5, 5', '5,5', '120, 60', 'NaN', 'Infinity', 'null', 'garbage'],
    ...['٣', '５', '²', '１２０', '5\u00a0', '\ufeff5'],
  ])('when it is %j, then it is ignored (F47)', (text) => {
    expect(read(text)).toBeUndefined()
  })

  it.each([undefined, null, 0, 5, 120, NaN, true, false, {}, [], ['5'], ['5', '6'], 5n, Symbol('5'), new String('5')])(
    'when it is %p, which is not a string, then it is ignored',
    (value) => {
      expect(read(value)).toBeUndefined()
    },
  )

  it('when the Date of the response is far off, then seconds are not affected (F48)', () => {
    for (const date of [undefined, 'Sun, 06 Nov 2094 08:49:37 GMT', 'garbage']) {
      expect(parseRetryAfter('7', date, AT)).toBe(7_000)
      expect(parseRetryAfter('7', date, 0)).toBe(7_000)
    }
  })
})

describe('given Retry-After as a date', () => {
  const HOUR = 3_600_000

  it.each([
    ['two minutes ahead', 120_000, 120_000],
    ['one second ahead', 1_000, 1_000],
    ['the same second', 0, 0],
    ['one second ago (F46)', -1_000, 0],
    ['a year ago (F46)', -365 * 24 * HOUR, 0],
  ])('when it is %s by the Date of the response, then our own clock does not count (F48)', (_, ahead, ms) => {
    for (const wallNow of [AT, AT + HOUR, AT - HOUR, 0])
      expect(parseRetryAfter(utc(AT + ahead), utc(AT), wallNow)).toBe(ms)
  })

  it.each([undefined, null, '', 'garbage', 'Mon, 30 Feb 2026 08:49:37 GMT', '1994-11-06T08:49:37Z', AT, {}])(
    'when the Date of the response is %p, then our own clock counts',
    (date) => {
      expect(parseRetryAfter(utc(AT + 120_000), date, AT)).toBe(120_000)
      expect(parseRetryAfter(utc(AT + 120_000), date, AT + 500)).toBe(119_500)
      expect(parseRetryAfter(utc(AT + 120_000), date, AT + HOUR)).toBe(0)
    },
  )

  it('when dates are written in the obsolete forms, then they are understood', () => {
    expect(parseRetryAfter('Sunday, 06-Nov-94 08:50:37 GMT', 'Sun Nov  6 08:49:37 1994', 0)).toBe(60_000)
    expect(parseRetryAfter('Sun Nov  6 08:50:37 1994', 'Sunday, 06-Nov-94 08:49:37 GMT', 0)).toBe(60_000)
  })

  it('when it is in 9999, then the pause is very long (F45)', () => {
    expect(parseRetryAfter('Fri, 31 Dec 9999 23:59:59 GMT', utc(AT), 0)).toBeGreaterThan(1e14)
  })

  it.each([
    'Mon, 30 Feb 2026 08:49:37 GMT',
    utc(AT).toLowerCase(),
    `${utc(AT)}, ${utc(AT)}`,
    new Date(AT).toISOString(),
  ])('when it is %s, which is not an HTTP-date, then it is ignored', (text) => {
    expect(parseRetryAfter(text, utc(AT), AT)).toBeUndefined()
  })
})

describe('given a string that is almost valid', () => {
  const { happens, oneOf, whole } = dice(1)
  const LETTERS = Array.from('0123456789 ,:-+.GMTUCZSunNovFeb\t\n\0e٣é')

  /** Inserts, deletes, replaces or doubles one character, anywhere. */
  function mutated(text: string): string {
    const at = whole(0, text.length)
    const letter = oneOf(LETTERS)
    const [head, tail] = [text.slice(0, at), text.slice(at)]
    return oneOf([
      head + letter + tail,
      head + tail.slice(1),
      head + letter + tail.slice(1),
      head + tail.slice(0, 1) + tail,
    ])
  }

  const seeds = [
    '120',
    '0',
    'Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
  ]
  const texts = seeds.flatMap((seed) =>
    Array.from({ length: 1_000 }, () => mutated(happens(0.5) ? seed : mutated(seed))),
  )

  it('when it is read as Retry-After, then the result is a time from now, or nothing', () => {
    for (const text of texts) {
      const ms = parseRetryAfter(text, undefined, AT)
      if (ms === undefined) continue
      expect([text, Number.isFinite(ms) && ms >= 0]).toEqual([text, true])
      expect(text).toMatch(/^(\d+|[A-Z].*\d)( GMT)?$/)
    }
  })

  it('when it is read as an HTTP-date, then the result is the date in it', () => {
    let read = 0
    for (const text of texts) {
      const at = parseHttpDate(text)
      if (at === undefined) {
        // A date in the form of the platform must be understood.
        const platform = Date.parse(text)
        if (platform < Date.UTC(10_000, 0)) expect(new Date(platform).toUTCString()).not.toBe(text)
        continue
      }
      read += 1
      const date = new Date(at)
      const two = (value: number) => String(value).padStart(2, '0')
      const clock = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`
      const month = date.toUTCString().slice(8, 11)
      const year = String(date.getUTCFullYear())
      const day = two(date.getUTCDate())
      const written = [
        `, ${day} ${month} ${year} ${clock} GMT`,
        `, ${day}-${month}-${year.slice(2)} ${clock} GMT`,
        ` ${month} ${day} ${clock} ${year}`,
        ` ${month} ${day.replace(/^0/, ' ')} ${clock} ${year}`,
      ]
      expect([text, written.some((form) => text.endsWith(form))]).toEqual([text, true])
    }
    expect(read).toBeGreaterThan(50)
  })
})
