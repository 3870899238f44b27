import { describe, expect, it } from '@jest/globals'
import { isAfter, parseTimestamp } from '../../src/service/timestamp.ts'
import { readElsewhere } from './zones.ts'

const utc = Date.UTC
const LEAP = utc(2016, 11, 31, 23, 59, 59, 999)
const atNoon = (day: string) => `${day}T12:00:00Z`
const onThatDay = (time: string) => `2020-12-29T${time}Z`
const inZone = (zone: string) => `2020-12-29T05:42:11${zone}`

type Row = [text: string, at: number, belowMsNs?: number]

const ACCEPTED: Record<string, Row[]> = {
  'a fraction, rounded down (F1)': [
    ['2020-12-29T05:42:11.925654Z', utc(2020, 11, 29, 5, 42, 11, 925), 654_000], // the example of the specification
    ['2020-12-29T05:42:11.925999Z', utc(2020, 11, 29, 5, 42, 11, 925), 999_000],
    ['2020-12-29T05:42:11.999999999Z', utc(2020, 11, 29, 5, 42, 11, 999), 999_999],
    ['2020-12-29T05:42:11.9256Z', utc(2020, 11, 29, 5, 42, 11, 925), 600_000],
    ['2020-12-29T05:42:11.000001Z', utc(2020, 11, 29, 5, 42, 11), 1_000],
    ['2020-12-29T05:42:11.000000001Z', utc(2020, 11, 29, 5, 42, 11), 1],
    ['2020-12-29T05:42:11.9Z', utc(2020, 11, 29, 5, 42, 11, 900)],
    ['2020-12-29T05:42:11.92Z', utc(2020, 11, 29, 5, 42, 11, 920)],
    ['2020-12-29T05:42:11.029Z', utc(2020, 11, 29, 5, 42, 11, 29)],
    ['1969-12-31T23:59:59.999999Z', -1, 999_000],
  ],
  'no fraction': [['2020-12-29T05:42:11Z', utc(2020, 11, 29, 5, 42, 11)]],
  'an offset (F2)': [
    ['2020-12-29T05:42:11+00:00', utc(2020, 11, 29, 5, 42, 11)],
    ['2020-12-29T05:42:11-00:00', utc(2020, 11, 29, 5, 42, 11)],
    ['2020-12-29T05:42:11.925654+03:00', utc(2020, 11, 29, 2, 42, 11, 925), 654_000],
    ['2020-12-29T05:42:11.925654-03:30', utc(2020, 11, 29, 9, 12, 11, 925), 654_000],
    ['2020-12-29T05:42:11-00:01', utc(2020, 11, 29, 5, 43, 11)],
    ['2020-12-31T23:30:00-00:45', utc(2021, 0, 1, 0, 15)],
    ['2021-01-01T01:00:00+05:45', utc(2020, 11, 31, 19, 15)],
    ['2020-12-29T05:42:11+23:59', utc(2020, 11, 28, 5, 43, 11)],
    ['2020-12-29T05:42:11-23:59', utc(2020, 11, 30, 5, 41, 11)],
  ],
  'a space for T (F230)': [
    ['2020-12-29 05:42:11.925654Z', utc(2020, 11, 29, 5, 42, 11, 925), 654_000],
    ['2020-12-29 05:42:11.925654+00:00', utc(2020, 11, 29, 5, 42, 11, 925), 654_000],
    ['2020-12-29 05:42:11+0300', utc(2020, 11, 29, 2, 42, 11)],
    ['2017-01-01 02:59:60+0300', LEAP, 1_000_000],
  ],
  'an offset without a colon (F230)': [
    ['2020-12-29T05:42:11+0000', utc(2020, 11, 29, 5, 42, 11)],
    ['2020-12-29T05:42:11.925654+0300', utc(2020, 11, 29, 2, 42, 11, 925), 654_000],
    ['2020-12-29T05:42:11-0330', utc(2020, 11, 29, 9, 12, 11)],
    ['2020-12-29T05:42:11-2359', utc(2020, 11, 30, 5, 41, 11)],
  ],
  'the last day of a month': [
    ['2020-02-29T12:00:00Z', utc(2020, 1, 29, 12)],
    ['2000-02-29T00:00:00Z', utc(2000, 1, 29)],
    ['2021-02-28T23:59:59Z', utc(2021, 1, 28, 23, 59, 59)],
    ['2020-01-31T23:59:59Z', utc(2020, 0, 31, 23, 59, 59)],
    ['2020-03-01T00:00:00+01:00', utc(2020, 1, 29, 23)],
  ],
  'a leap second (F4)': [
    ['2016-12-31T23:59:60Z', LEAP, 1_000_000],
    ['2016-12-31T23:59:60.000000Z', LEAP, 1_000_000],
    ['2016-12-31T23:59:60+00:00', LEAP, 1_000_000],
    ['2017-01-01T02:59:60+03:00', LEAP, 1_000_000],
    ['2016-12-31T15:59:60-08:00', LEAP, 1_000_000],
  ],
  'a leap second of a zone where it ends no hour (F2, F4)': [
    ['2017-01-01T05:29:60+05:30', LEAP, 1_000_000],
    ['2016-12-31T20:29:60-03:30', LEAP, 1_000_000],
    ['2017-01-01T05:44:60+05:45', LEAP, 1_000_000],
  ],
  'the year 9999 (F6)': [
    ['9999-12-31T23:59:59.999999Z', utc(9999, 11, 31, 23, 59, 59, 999), 999_000],
    ['9999-12-31T23:59:59-23:59', utc(9999, 11, 31, 23, 59, 59) + 86_340_000],
  ],
}

const WITHOUT_ZONE: Row[] = [
  ['2020-12-29T05:42:11.925654', utc(2020, 11, 29, 5, 42, 11, 925), 654_000],
  ['2020-07-01T00:00:00', utc(2020, 6, 1)],
  ['2020-07-01 00:00:00.000001', utc(2020, 6, 1), 1_000],
  ['2016-12-31T23:59:60', LEAP, 1_000_000],
]

const read = (rows: Row[]) => rows.map(([text]) => [text, parseTimestamp(text)])
const expected = (rows: Row[], hasZone = true) =>
  rows.map(([text, at, belowMsNs = 0]) => [text, { at, belowMsNs, hasZone }])

describe('given a timestamp', () => {
  it.each(Object.entries(ACCEPTED))(
    'when it has %s, then it is read to the nanosecond (F1, F2, F4, F230)',
    (_, rows) => {
      expect(read(rows)).toEqual(expected(rows))
    },
  )

  it('when it has no zone, then it is UTC (F3)', () => {
    expect(read(WITHOUT_ZONE)).toEqual(expected(WITHOUT_ZONE, false))
  })

  it('when the process runs in another time zone, then every timestamp is read the same (F3, F230, P12)', () => {
    const texts = [...Object.values(ACCEPTED).flat(), ...WITHOUT_ZONE].map(([text]) => text)
    const here = texts.map((text) => parseTimestamp(text) ?? null)
    for (const there of readElsewhere('service/timestamp', 'parseTimestamp', texts)) expect(there).toEqual(here)
  })
})

describe('given an invalid timestamp (F5)', () => {
  it.each<[string, unknown[]]>([
    ['something shorter', ['', ' ', '12', '2020', '2020-12', '2020-12-29', '2020-12-29T05Z', '2020-12-29T05:42Z']],
    ['epoch time', ['1609220531', '1609220531925', 0, 1_609_220_531_925, NaN, new Date(0)]],
    ['words', ['now', 'null', 'Invalid Date', 'Tue, 29 Dec 2020 05:42:11 GMT', 'Tue Dec 29 2020 05:42:11 GMT+0000']],
    [
      'no day of the calendar',
      ['2020-02-30', '2021-02-29', '1900-02-29', '2020-04-31', '2020-12-00', '2020-12-32'].map(atNoon),
    ],
    ['no month of the calendar', ['2020-00-10', '2020-13-01'].map(atNoon)],
    [
      'no time of day',
      ['24:00:00', '25:00:00', '05:60:00', '05:42:61', '05:42:60', '23:58:60', '12:59:60', '5:42:11'].map(onThatDay),
    ],
    ['a leap second that does not end a day of UTC', ['2016-12-31T23:59:60+03:00', '2017-01-01T05:59:60+05:30']],
    ['lower case', ['2020-12-29t05:42:11Z', '2020-12-29T05:42:11z']],
    [
      'another character than T',
      ['2020-12-29  05:42:11Z', '2020-12-29T 05:42:11Z', '2020-12-29\t05:42:11Z', '2020-12-29\u00a005:42:11Z'],
    ],
    [
      'another form of ISO 8601',
      [
        '20201229T054211Z',
        '2020-W53-2T05:42:11Z',
        '2020-364T05:42:11Z',
        '+002020-12-29T05:42:11Z',
        '-2020-12-29T05:42:11Z',
        '10000-01-01T00:00:00Z',
        '12/29/2020 05:42:11',
      ],
    ],
    [
      'another form of zone',
      [
        '+03',
        '+3:00',
        '+300',
        '+2400',
        '+0360',
        '+24:00',
        '+03:60',
        '\u221203:00',
        'Z+03:00',
        ' Z',
        'ZZ',
        'UTC',
        ' +03:00',
      ].map(inZone),
    ],
    ['another form of fraction', ['.Z', ',925Z', '.1234567890Z', '.-1Z', '.1e3Z', '.1.2Z'].map(inZone)],
    [
      'something around it',
      [' 2020-12-29T05:42:11Z', '2020-12-29T05:42:11Z ', '2020-12-29T05:42:11Z\n', '\ufeff2020-12-29T05:42:11Z'],
    ],
    ['digits of other scripts', ['٢٠٢٠-١٢-٢٩T٠٥:٤٢:١١Z', '２０２０-12-29T05:42:11Z', '2020-12-29T05:42:11.٩Z']],
    [
      'a value that is not a string',
      [undefined, null, true, {}, [], ['2020-12-29T05:42:11Z'], new String('2020-12-29T05:42:11Z')],
    ],
  ])('when it has %s, then it is rejected', (_, values) => {
    expect(values.filter((value) => parseTimestamp(value))).toEqual([])
  })

  it('when any character of a valid one is replaced, dropped or doubled, then nothing is thrown and the result is not NaN', () => {
    const text = '2020-12-29T05:42:11.925654+03:00'
    const changed = Array.from(text).flatMap((character, n) =>
      ['', character + character, ...' 0159-+.:TtZz\0\n\u0660\ud800é'.split('')].map(
        (other) => text.slice(0, n) + other + text.slice(n + 1),
      ),
    )
    const kept = changed.map(parseTimestamp).filter((timestamp) => timestamp !== undefined)
    expect(kept.every(({ at, belowMsNs }) => Number.isSafeInteger(at) && Number.isSafeInteger(belowMsNs))).toBe(true)
    // Only some changes of digits give another valid timestamp.
    expect(changed.length - kept.length).toBeGreaterThan(400)
  })
})

describe('given two timestamps', () => {
  it('when they are compared, then nanoseconds count and spellings do not', () => {
    const rows: [later: string, earlier: string, isLater: boolean][] = [
      ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00Z', false],
      ['2020-01-01T00:00:00.000001Z', '2020-01-01T00:00:00.000000Z', true],
      ['2020-01-01T00:00:00.000000Z', '2020-01-01T00:00:00.000001Z', false],
      ['2020-01-01T00:00:00.000000001Z', '2020-01-01T00:00:00Z', true],
      ['2020-01-01T00:00:00.001Z', '2020-01-01T00:00:00.000999999Z', true],
      ['2020-01-01T00:00:00.000999999Z', '2020-01-01T00:00:00.001Z', false],
      ['2020-01-01T00:00:00.5Z', '2020-01-01T00:00:00.500000Z', false],
      ['2020-01-01T03:00:00+03:00', '2020-01-01T00:00:00Z', false],
      ['2020-01-01T03:00:00.000001+03:00', '2020-01-01T00:00:00Z', true],
      ['2019-12-31T23:00:00-01:00', '2020-01-01T00:00:00.000000001Z', false],
      ['2020-01-01T00:00:00Z', '2020-01-01T00:00:00', false],
      ['2017-01-01T00:00:00Z', '2016-12-31T23:59:60.5Z', true],
      ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.999999999Z', true],
      ['2016-12-31T23:59:60.2Z', '2016-12-31T23:59:60.1Z', true],
    ]
    const asked = rows.map(([later, earlier]) => [
      later,
      earlier,
      isAfter(parseTimestamp(later)!, parseTimestamp(earlier)!),
    ])
    expect(asked).toEqual(rows)
  })
})
