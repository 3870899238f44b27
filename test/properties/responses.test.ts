import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { isTokenError, type TokenError } from '../../src/core/errors.ts'
import { checkedGrant } from '../support/checked-grant.ts'
import type { TokenGrant } from '../../src/core/token-source.ts'
import { parseTimestamp } from '../../src/service/timestamp.ts'
import { deskBehind, metaText, NOW, obtainText, pairText, stamp, unsignedText } from '../service/variant-b.ts'
import { grantText, obtain, response, sourceBehind } from '../service/world.ts'
import { spelt } from './instants.ts'
import { patience, runs, usually } from './runs.ts'
import { anyWith, jsonTexts, mutated, overfull, prototypes } from './texts.ts'

/** Tests a property `usual` times, or as often as the environment requests. */
const holds = <Given>(usual: number, property: fc.IRawProperty<Given>) => fc.assert(property, runs(usually(usual)))

/** @returns The result of a reader: a usable grant, or a TokenError. No prototype may change. */
async function read(reader: () => Promise<TokenGrant>): Promise<{ grant: TokenGrant } | { error: TokenError }> {
  const before = prototypes()
  const [given] = await Promise.allSettled([reader()])
  expect(prototypes()).toBe(before)
  if (given.status === 'rejected') {
    if (isTokenError(given.reason)) return { error: given.reason }
    throw given.reason
  }
  expectUsable(given.value)
  return { grant: given.value }
}

function expectUsable({ accessToken, accessLifetimeMs, refreshToken, refreshLifetimeMs = 1 }: TokenGrant): void {
  expect(accessToken).toMatch(/^[!-~]+$/)
  expect([accessLifetimeMs, refreshLifetimeMs].every((ms) => ms > 0 && ms < Infinity)).toBe(true)
  expect(refreshToken === undefined || (typeof refreshToken === 'string' && refreshToken !== '')).toBe(true)
}

/** None, one or more of these members. Each value is any JSON value, or a timestamp near now. */
const odd = (...names: string[]) => {
  const ns = fc.bigInt({ min: -100_000n, max: 100_000_000n }).map((ms) => (BigInt(NOW) + ms) * 1_000_000n)
  const stamps = ns.map((near) => JSON.stringify(spelt({ ns: near, digits: 6, zone: 'Z', between: 'T', colon: ':' })))
  const values = fc.oneof(jsonTexts, stamps)
  const one = fc.tuple(fc.constantFrom(...names), values).map(([name, value]) => ({ [name]: value }))
  const more = fc.record(Object.fromEntries(names.map((name) => [name, values])), { requiredKeys: [] })
  return fc.oneof(fc.constant({}), one, more)
}
/** Valid texts, texts that are valid except for some members, and mutations of both. */
const broken = (...texts: fc.Arbitrary<string>[]) =>
  fc.oneof(fc.oneof(...texts), mutated(fc.oneof(...texts)), overfull(fc.oneof(...texts)), jsonTexts)

interface Resource {
  readonly attributes: Readonly<Record<string, unknown>>
}
const lifetimeMs = (expiry: unknown) => (parseTimestamp(expiry)?.at ?? Infinity) - NOW
/** @returns What JavaScript reads from the bytes of a text: no byte order mark, and nothing that UTF-8 cannot express. */
const parsed = (text: string) =>
  JSON.parse(new TextDecoder().decode(new TextEncoder().encode(text))) as Resource & { readonly data?: Resource }

describe('given any response of status 200, and mutated valid ones', () => {
  it(
    'when Variant A reads it, then the result is the token in it, or a TokenError (F77)',
    () => {
      const texts = broken(
        fc.constant(grantText()),
        odd('access', 'expires_in', 'token_type').map((attributes) => grantText(attributes)),
      )
      let text = ''
      const source = sourceBehind((config) => Promise.resolve(response(config, text)))
      return holds(
        800,
        fc.asyncProperty(texts, async (given) => {
          text = given
          const result = await read(async () => (await obtain(source)).grant)
          if (!('grant' in result)) return
          const { access, expires_in } = parsed(text).data!.attributes
          expect(result.grant).toEqual({ accessToken: access, accessLifetimeMs: Number(expires_in) * 1_000 })
        }),
      )
    },
    patience(800),
  )

  const pairs = odd('access', 'refresh', 'access_expired_at', 'refresh_expired_at', 'is_2fa_confirmed')
  const metas = odd('time', 'sign').map((changes) => metaText(stamp(NOW), 'refresh-1', changes))

  it(
    'when Variant B obtains, then the only possible refresh token is the signed one (F77, F86)',
    () => {
      const texts = broken(
        fc.constant(obtainText()),
        fc
          .tuple(pairs, fc.option(metas, { nil: undefined }))
          .map(([attributes, meta]) => obtainText({ attributes, meta })),
      )
      return holds(
        500,
        fc.asyncProperty(texts, async (text) => {
          const desk = deskBehind((config) => Promise.resolve(response(config, text)))
          const result = await read(() => desk.obtain())
          if (!('grant' in result)) return
          const { refreshToken } = result.grant
          const hasEnded = lifetimeMs(parsed(text).data!.attributes.refresh_expired_at) <= 0
          expect(refreshToken).toBe(hasEnded ? undefined : 'refresh-1')
        }),
      )
    },
    patience(500),
  )

  it.each(['obtain', 'refresh'] as const)(
    'when Variant B reads the unsigned response of %s, then the result is the token set in it, or a TokenError (F77)',
    (exchange) => {
      const texts = broken(
        pairs.map((attributes) => unsignedText(attributes)),
        pairs.map((attributes) => (exchange === 'refresh' ? pairText(attributes) : unsignedText(attributes))),
      )
      return holds(
        500,
        fc.asyncProperty(texts, async (text) => {
          const desk = deskBehind((config) => Promise.resolve(response(config, text)), { verifySignature: false })
          const result = await read(() => desk[exchange]())
          if (!('grant' in result)) return
          const document = parsed(text)
          const { attributes } = Object.hasOwn(document, 'data') ? document.data! : document
          expect(result.grant).toEqual({
            accessToken: attributes.access,
            accessLifetimeMs: lifetimeMs(attributes.access_expired_at),
            refreshToken: attributes.refresh ?? undefined,
          })
        }),
      )
    },
    patience(500),
  )
})

describe('given a response of any status, with any headers', () => {
  const headers = fc.record(
    {
      'retry-after': mutated(fc.constantFrom('120', 'Sun, 06 Nov 1994 08:49:37 GMT')),
      date: mutated(fc.constant('Thu, 01 Jan 2026 00:00:00 GMT')),
      location: mutated(fc.constantFrom('https://tokens.example/api/token', '/elsewhere')),
      'content-encoding': fc.constantFrom('gzip', 'aes128gcm', ''),
    },
    { requiredKeys: [] },
  )
  const bodies = broken(
    fc.constantFrom('{"errors":[{"status":"400","code":"2006","detail":"…"}]}', '{"detail":{"code":2007}}', '<html>'),
    odd('errors', 'error', 'code', 'detail').map(
      (members) =>
        `{${Object.entries(members)
          .map(([name, value]) => `"${name}":${value}`)
          .join()}}`,
    ),
  )
  const statuses = fc.oneof(fc.integer({ min: 300, max: 599 }), fc.constantFrom(0, 100, 600, 999, -1, NaN))

  it(
    'when it is read, then the result is a TokenError with a valid error code and Retry-After (F52, F53)',
    () =>
      holds(
        500,
        fc.asyncProperty(statuses, bodies, headers, async (status, body, given) => {
          const source = sourceBehind((config) => Promise.resolve(response(config, body, status, given)))
          const result = await read(async () => (await obtain(source)).grant)
          if ('grant' in result) throw new Error(`a token came with status ${status}`)
          const { serviceCode = 'none', retryAfterMs = 0 } = result.error
          expect(serviceCode).toMatch(/^[\w.-]{1,32}$/)
          expect(retryAfterMs >= 0).toBe(true)
        }),
      ),
    patience(500),
  )
})

describe('given any grant of a custom source', () => {
  it(
    'when it is checked, then the result is a usable grant, or a TokenError',
    () => {
      const names = ['accessToken', 'accessLifetimeMs', 'refreshToken', 'refreshLifetimeMs']
      const values = fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom('token', 60_000, undefined) },
        { weight: 1, arbitrary: fc.oneof(fc.string({ unit: 'binary' }), fc.double(), fc.anything()) },
      )
      return holds(
        2_000,
        fc.asyncProperty(
          anyWith(names, values),
          async (grant) => void (await read(async () => checkedGrant(grant as never))),
        ),
      )
    },
    patience(2_000),
  )
})
