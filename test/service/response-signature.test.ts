import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { isAuthentic } from '../../src/service/response-signature.ts'

const login = 'api-key'
const password = 'api-secret'
const time = '2020-12-29T05:42:11.925654Z'
const refresh = 'refresh-token'

const tagUnder = (key: string | Buffer, text = time + refresh, hash = 'sha256') =>
  createHmac(hash, key).update(text).digest()
const tag = tagUnder(login + password)
const digestOf = (text: string) => createHash('sha256').update(text).digest()

const accepts = (sign: unknown, changes: Partial<Record<'time' | 'refresh' | 'login' | 'password', string>> = {}) => {
  const given = { time, refresh, login, password, ...changes }
  return isAuthentic({ time: given.time, refresh: given.refresh, sign }, given.login, given.password)
}

/** A tag whose base64 contains both characters that base64url writes differently. */
function withBothSigns(): { refresh: string; bytes: Buffer } {
  for (let n = 0; ; n += 1) {
    const bytes = tagUnder(login + password, `${time}refresh-${n}`)
    if (/\+.*\/|\/.*\+/.test(bytes.toString('base64'))) return { refresh: `refresh-${n}`, bytes }
  }
}

describe('given a tag that was computed elsewhere', () => {
  it.each([
    ['login and password (specification)', '31d8dc9ea4f378db2d52bd4948494fdf0d51c1e0f4ffd3911ba9cc7a8ffd5757'],
    ['the digest of both (field notes)', 'd72a3637383f04374a3fd4509a52cc9ef738c3f68c0f1e25809cd55f2f398c73'],
  ])('when its key is %s, then it is valid', async (_, sign) => {
    expect(await accepts(sign)).toBe(true)
  })

  const wrong: [string, Buffer][] = [
    ['the login', tagUnder(login)],
    ['the password', tagUnder(password)],
    ['the password and the login', tagUnder(password + login)],
    ['both with a colon between', tagUnder(`${login}:${password}`)],
    ['the digest of both in hex', tagUnder(digestOf(login + password).toString('hex'))],
    ['the digest of the digest', tagUnder(digestOf(digestOf(login + password).toString('latin1')))],
    ['right, with refresh before time', tagUnder(login + password, refresh + time)],
    ['right, over the time alone', tagUnder(login + password, time)],
    ['right, over nothing', tagUnder(login + password, '')],
    ['right, over a re-formatted time (F89)', tagUnder(login + password, `2020-12-29T05:42:11.925Z${refresh}`)],
    ['right, with SHA-512 cut to 32 bytes', tagUnder(login + password, undefined, 'sha512').subarray(0, 32)],
    ['right, with SHA3-256', tagUnder(login + password, undefined, 'sha3-256')],
    ['none: a plain digest', digestOf(login + password + time + refresh)],
  ]

  it('when its key, its message or its hash is another, then it is invalid (F89)', async () => {
    const results = await Promise.all(wrong.map(([, bytes]) => accepts(bytes.toString('hex'))))
    expect(wrong.filter((_, n) => results[n])).toEqual([])
  })
})

describe('given a valid tag under either key (F84)', () => {
  const special = withBothSigns()
  const other = tagUnder(digestOf(login + password), time + special.refresh)
  const spellings: [string, (bytes: Buffer) => string][] = [
    ['hex in lower case', (bytes) => bytes.toString('hex')],
    ['hex in upper case', (bytes) => bytes.toString('hex').toUpperCase()],
    ['hex in both', (bytes) => bytes.toString('hex').replace(/[a-f]/, (digit) => digit.toUpperCase())],
    ['base64', (bytes) => bytes.toString('base64')],
    ['base64 without padding', (bytes) => bytes.toString('base64').replace('=', '')],
    ['base64url', (bytes) => bytes.toString('base64url')],
    ['base64url with padding', (bytes) => `${bytes.toString('base64url')}=`],
  ]

  it.each(spellings)('when it is %s, then it is valid, with space around it or not', async (_, spell) => {
    for (const text of [spell(special.bytes), spell(other)])
      for (const sign of [text, ` ${text}`, `${text}\n`, `\t ${text} \r\n`])
        expect(await accepts(sign, { refresh: special.refresh })).toBe(true)
  })

  const base64 = special.bytes.toString('base64')
  const hex = special.bytes.toString('hex')
  const last = base64.at(42)!
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  /** Has the same four bits of the tag, and one more bit, which lenient decoders drop. */
  const sloppy = alphabet[alphabet.indexOf(last) + 1]!

  it.each<[string, [string, unknown][]]>([
    [
      'base64 that only a lenient decoder accepts',
      [
        ['base64 of mixed alphabets', base64.replace('+', '-')],
        ['base64 with two paddings', `${base64}=`],
        ['base64 whose padding is escaped', base64.replace('=', '%3D')],
        ['base64 with surplus bits in its last character', `${base64.slice(0, 42)}${sloppy}=`],
        ['base64 without padding, with such a last character', `${base64.slice(0, 42)}${sloppy}`],
        ['base64url with such a last character', special.bytes.toString('base64url').slice(0, 42) + sloppy],
        ['base64 with a space in it', `${base64.slice(0, 20)} ${base64.slice(20)}`],
        ['base64 with a line break in it', `${base64.slice(0, 20)}\n${base64.slice(20)}`],
        ['base64 with invalid characters in it', `!!${base64}`],
        ['base64 of its hex', Buffer.from(hex).toString('base64')],
      ],
    ],
    [
      'hex that only a lenient decoder accepts',
      [
        ['hex with 0x', `0x${hex}`],
        ['hex with colons', hex.replace(/..(?=.)/g, '$&:')],
        ['hex with a space in it', `${hex.slice(0, 32)} ${hex.slice(32)}`],
        ['hex with one invalid digit', `${hex.slice(0, 63)}g`],
        ['hex in full-width digits', hex.replace(/\d/, (digit) => String.fromCharCode(0xff10 + Number(digit)))],
      ],
    ],
    [
      'of another length',
      [
        ['hex with one digit less', hex.slice(0, 63)],
        ['hex with one digit more', `${hex}0`],
        ['its first 16 bytes in hex', hex.slice(0, 32)],
        ['its first 31 bytes in hex', hex.slice(0, 62)],
        ['33 bytes in hex', `${hex}00`],
        ['its first 16 bytes in base64', special.bytes.subarray(0, 16).toString('base64')],
        ['its first 31 bytes in base64', special.bytes.subarray(0, 31).toString('base64')],
        ['33 bytes in base64', Buffer.concat([special.bytes, Buffer.alloc(1)]).toString('base64')],
        ['its bytes as characters', special.bytes.toString('latin1')],
        ['the tag with sha256= before it', `sha256=${hex}`],
        ['the tag twice', hex + hex],
        ['a megabyte of the tag', hex.repeat(16_384)],
        ['a megabyte of space and the tag', `${' '.repeat(1_000_000)}${hex.slice(1)}`],
        ['empty', ''],
        ['blank', '  '],
        ['zeros', '0'.repeat(64)],
      ],
    ],
    [
      'not a string',
      [
        ['a number', 5],
        ['an array with it', [hex]],
        ['an object', { toString: () => hex }],
        ['bytes', special.bytes],
        ['true', true],
        ['null', null],
        ['missing', undefined],
      ],
    ],
  ])('when it is %s, then it is rejected (F84, F85)', async (_, signs) => {
    const results = await Promise.all(signs.map(([, sign]) => accepts(sign, { refresh: special.refresh })))
    expect(signs.filter((__, n) => results[n])).toEqual([])
  })
})

describe('given a valid response and one flipped bit (P23, F83, F86)', () => {
  /** Every string that differs in one bit: a bit of its bytes if the result is UTF-8, otherwise a bit of a character. */
  function* flipped(text: string): Generator<string> {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    for (let bit = 0; bit < Buffer.byteLength(text) * 8; bit += 1) {
      const bytes = Buffer.from(text)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      try {
        yield decoder.decode(bytes)
      } catch {
        const units = Array.from(text, (character) => character.codePointAt(0)!)
        units[(bit >> 3) % units.length]! ^= 1 << (bit & 7)
        yield String.fromCodePoint(...units)
      }
    }
  }
  const secrets = { login: 'api-kéy', password: 'p🗝ss' }
  const sign = tagUnder(secrets.login + secrets.password).toString('hex')

  it.each([
    ['time', time],
    ['refresh', refresh],
    ['login', secrets.login],
    ['password', secrets.password],
  ])('when it is in %s, then the tag is invalid', async (name, text) => {
    const texts = [...flipped(text)]
    expect(await accepts(sign, secrets)).toBe(true)
    expect(texts).toHaveLength(Buffer.byteLength(text) * 8)
    expect(texts).not.toContain(text)
    const results = await Promise.all(texts.map((changed) => accepts(sign, { ...secrets, [name]: changed })))
    expect(results).not.toContain(true)
  })

  it.each([
    ['login and password', tag],
    ['the digest of both', tagUnder(digestOf(login + password))],
  ])('when it is in the tag under %s, then that is invalid', async (_, right) => {
    const wrong = Array.from({ length: 256 }, (__, bit) => {
      const bytes = Buffer.from(right)
      bytes[bit >> 3]! ^= 1 << (bit & 7)
      return bytes
    })
    const results = await Promise.all(
      wrong.flatMap((bytes) => [accepts(bytes.toString('hex')), accepts(bytes.toString('base64'))]),
    )
    expect(results).toEqual(Array<boolean>(512).fill(false))
    expect(await accepts(right.toString('hex'))).toBe(true)
  })
})

describe('given login and password of all kinds (F90)', () => {
  it('when they are any strings, then they are used unchanged, in UTF-8', async () => {
    const kinds: [name: string, login: string, password: string][] = [
      ['an umlaut', 'käy', 'sécret'],
      ['emoji', '🗝️', '🔒👩‍💻'],
      ['quotes and backslashes', `"'\\`, '\n\t'],
      ['space at both ends', ' key ', ' secret '],
      ['200 characters each, more than a block of the hash', 'k'.repeat(200), 's'.repeat(200)],
      ['one block and a byte', 'k'.repeat(32), 's'.repeat(33)],
      ['one block', 'k'.repeat(32), 's'.repeat(32)],
      ['one character each', 'k', 's'],
    ]
    for (const [name, key, secret] of kinds) {
      const bytes = Buffer.from(key + secret, 'utf8')
      for (const right of [tagUnder(bytes), tagUnder(createHash('sha256').update(bytes).digest())])
        expect([name, await accepts(right.toString('hex'), { login: key, password: secret })]).toEqual([name, true])
    }
  })

  it('when two of them only look alike, then they are not interchangeable', async () => {
    const alike: [name: string, one: string, other: string][] = [
      ['composed and decomposed', 'é', 'e\u0301'],
      ['a compatible character', 'ﬁ', 'fi'],
      ['space at the end', 'key', 'key '],
      ['space before it', 'key', ' key'],
      ['capitals', 'key', 'KEY'],
      ['a byte order mark', 'key', '\ufeffkey'],
    ]
    const sign = (text: string) => tagUnder(text + text).toString('hex')
    for (const [name, one, other] of alike) {
      const results = [sign(one), sign(other)].flatMap((tagged) =>
        [one, other].map((text) => accepts(tagged, { login: text, password: text })),
      )
      expect([name, ...(await Promise.all(results))]).toEqual([name, true, false, false, true])
    }
  })
})

describe('given characters that move from time to refresh (F88)', () => {
  it('when they do, then the tag is still valid: other code checks the form of time', async () => {
    expect(await accepts(tag.toString('hex'), { time: time.slice(0, -1), refresh: `Z${refresh}` })).toBe(true)
  })
})
