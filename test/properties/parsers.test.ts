import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { parseHttpDate, parseRetryAfter } from '../../src/wire/http-date.ts'
import { isAuthentic } from '../../src/service/response-signature.ts'
import { isAfter, parseTimestamp } from '../../src/service/timestamp.ts'
import { instants, spelt } from './instants.ts'
import { patience, runs, usually } from './runs.ts'
import { mutated } from './texts.ts'

const holds = <Given>(usual: number, property: fc.IRawProperty<Given>) => fc.assert(property, runs(usually(usual)))

/** The current time of this machine's clock. */
const NOW = Date.UTC(2026)
const account = { login: 'api-key-of-nobody', password: 'api-secret-of-nobody' }

describe('given a signature', () => {
  const tag = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const keys = [
    account.login + account.password,
    createHash('sha256')
      .update(account.login + account.password)
      .digest(),
  ]
  const texts = fc.string({ unit: 'binary', maxLength: 20 })
  const encodings = fc.constantFrom('hex', 'base64', 'base64url')

  it(
    'when it is valid for any key and text, then it is authentic, and with another text it is not (F90)',
    () =>
      holds(
        300,
        fc.asyncProperty(texts, texts, texts, texts, encodings, async (time, refresh, login, password, encoding) => {
          fc.pre(login + password !== '')
          const sign = tag(login + password, time + refresh).toString(encoding)
          expect(await isAuthentic({ time, refresh, sign }, login, password)).toBe(true)
          expect(await isAuthentic({ time, refresh: `${refresh}x`, sign }, login, password)).toBe(false)
        }),
      ),
    patience(300),
  )

  it(
    'when it is changed, then only another spelling of the same bytes is authentic (F84)',
    () => {
      const right = keys.map((key) => tag(key, 'timerefresh'))
      const spellings = fc
        .tuple(fc.constantFrom(...right), encodings)
        .map(([bytes, encoding]) => bytes.toString(encoding))
      const signs = fc.oneof(mutated(spellings), fc.anything())
      return holds(
        500,
        fc.asyncProperty(signs, async (sign) => {
          const { login, password } = account
          if (!(await isAuthentic({ time: 'time', refresh: 'refresh', sign }, login, password))) return
          const text = (sign as string).trim()
          const bytes = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? 'hex' : 'base64')
          expect(right.some((one) => one.equals(bytes))).toBe(true)
        }),
      )
    },
    patience(500),
  )
})

describe('given any instant', () => {
  it('when it is written as a timestamp, then it is read back, rounded down to the ms (F1, F2, F230)', () =>
    holds(
      2_000,
      fc.property(instants, (instant) => {
        expect(parseTimestamp(spelt(instant))).toEqual({
          at: Number(instant.ns / 1_000_000n) - (instant.ns % 1_000_000n < 0n ? 1 : 0),
          belowMsNs: Number(((instant.ns % 1_000_000n) + 1_000_000n) % 1_000_000n),
          hasZone: instant.zone !== undefined,
        })
      }),
    ))

  it('when it is compared with another, then nanoseconds count and spellings do not', () =>
    holds(
      1_000,
      fc.property(instants, instants, fc.boolean(), (one, other, same) => {
        const another = same ? { ...other, ns: one.ns, digits: one.digits } : other
        const [first, second] = [parseTimestamp(spelt(one))!, parseTimestamp(spelt(another))!]
        expect([isAfter(first, second), isAfter(second, first)]).toEqual([one.ns > another.ns, another.ns > one.ns])
      }),
    ))

  it('when its timestamp is changed, then the result is what is written, or nothing (F5)', () =>
    holds(
      2_000,
      fc.property(mutated(instants.map(spelt)), (text) => {
        const timestamp = parseTimestamp(text)
        if (!timestamp) return
        const [, sign, hours, minutes] = /:.*([+-])(\d\d):?(\d\d)$/.exec(text) ?? []
        const offsetMs = Number(`${sign ?? '+'}1`) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000
        const written = new Date(timestamp.at + offsetMs).toISOString()
        // A leap second counts as the end of the second before.
        expect(text.slice(0, 19).replace(' ', 'T').replace(/60$/, '59')).toBe(written.slice(0, 19))
        expect(timestamp.belowMsNs).toBe(Math.floor(Math.abs(timestamp.belowMsNs)))
      }),
    ))
})

describe('given any second', () => {
  const DAYS = ['Sun', 'Mon', 'Tues', 'Wednes', 'Thurs', 'Fri', 'Satur']
  const seconds = (from: number, to: number) =>
    fc.integer({ min: Date.UTC(from) / 1_000, max: Date.UTC(to) / 1_000 }).map((second) => new Date(second * 1_000))
  const asRfc850 = (date: Date) => {
    const [, day, month, year, time] = /, (\d\d) (\w{3}) \d\d(\d\d) ([\d:]{8})/.exec(date.toUTCString())!
    return `${DAYS[date.getUTCDay()]}day, ${day}-${month}-${year} ${time} GMT`
  }
  const asAsctime = (date: Date) => {
    const [, weekday, day, month, year, time] = /(\w{3}), (\d\d) (\w{3}) (\d{4}) ([\d:]{8})/.exec(date.toUTCString())!
    return `${weekday} ${month} ${day!.replace(/^0/, ' ')} ${time} ${year}`
  }
  const forms: [string, (date: Date) => string, number, number][] = [
    ['IMF-fixdate', (date) => date.toUTCString(), 1900, 9999],
    ['RFC 850', asRfc850, 1990, 2040],
    ['asctime', asAsctime, 1900, 9999],
  ]

  it.each(forms)('when it is written in the form of %s, then it is read back', (_, written, from, to) =>
    holds(
      1_000,
      fc.property(seconds(from, to), (date) => expect(parseHttpDate(written(date))).toBe(date.getTime())),
    ),
  )

  const dates = fc.oneof(...forms.map(([, written, from, to]) => seconds(from, to).map(written)))
  /** @returns A date without the weekday, which no parser checks, and with one spelling of asctime's day (RFC 9110, 5.6.7). */
  const essence = (text: string) => text.replace(/^[A-Z][a-z]+/, '').replace(/^( [A-Z][a-z]{2}) 0/, '$1  ')

  it('when its date is changed, then the result is what is written, or nothing', () =>
    holds(
      2_000,
      fc.property(mutated(dates), (text) => {
        const at = parseHttpDate(text)
        if (at === undefined) return
        expect(forms.map(([, written]) => essence(written(new Date(at))))).toContain(essence(text))
      }),
    ))

  it('when Retry-After is any text, then the result is a number of ms that is not negative, or nothing (F46, F47)', () => {
    const valid = fc.oneof(fc.nat().map(String), dates)
    return holds(
      2_000,
      fc.property(
        fc.oneof(valid, mutated(valid), fc.anything()),
        fc.oneof(dates, mutated(dates), fc.anything()),
        (text, date) => {
          const ms = parseRetryAfter(text, date, NOW)
          const at = parseHttpDate(text)
          if (typeof text === 'string' && /^[0-9]+$/.test(text)) expect(ms).toBe(Number(text) * 1_000)
          else expect(ms).toBe(at === undefined ? undefined : Math.max(0, at - (parseHttpDate(date) ?? NOW)))
        },
      ),
    )
  })
})
