import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { isTokenError, type TokenError } from '../../src/core/errors.ts'
import { checkedGrant } from '../support/checked-grant.ts'

const pair = { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r', refreshLifetimeMs: 21_600_000 }

function refusalOf(grant: unknown): TokenError {
  try {
    checkedGrant(grant as never)
  } catch (thrown) {
    if (!isTokenError(thrown)) throw thrown
    expect(thrown.outcome).toBe('unknown')
    expect(inspect(thrown, { depth: Infinity, showHidden: true })).not.toContain('hidden-value')
    return thrown
  }
  throw new Error(`not refused: ${inspect(grant)}`)
}

/** Expects the error for a bad value from the service. */
function expectRefused(grant: unknown, member: string): void {
  const error = refusalOf(grant)
  expect(error).toMatchObject({ code: 'ERR_TOKEN_RESPONSE', retryable: true })
  expect(error.message).toContain(`: ${member} must be `)
}

/** Expects the error for a broken source: no service can return a value of the wrong type. */
function expectBroken(grant: unknown, message: string): void {
  expect(refusalOf(grant)).toMatchObject({
    code: 'ERR_TOKEN_SOURCE',
    retryable: false,
    message: `The token source is broken: ${message}`,
  })
}

describe('given a usable grant', () => {
  it.each([
    ['an access token', { accessToken: 'a', accessLifetimeMs: 60_000 }],
    ['a token set', pair],
    [
      'a token set whose refresh token has no known expiry',
      { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' },
    ],
  ])('when it has %s, then a frozen copy has the same members', (_, grant) => {
    const copy = checkedGrant(grant)
    expect(copy).toEqual(grant)
    expect(copy).not.toBe(grant)
    expect(Object.isFrozen(copy)).toBe(true)
  })

  it('when it has more members, then they are left out', () => {
    const more = { ...pair, scope: 'all', __proto__: { evil: true } }
    expect(checkedGrant(more)).toEqual(pair)
    expect('evil' in checkedGrant(more)).toBe(false)
  })

  it('when optional members are undefined, then they are absent', () => {
    const grant = { accessToken: 'a', accessLifetimeMs: 1, refreshToken: undefined, refreshLifetimeMs: undefined }
    expect(Object.keys(checkedGrant(grant as never))).toEqual(['accessToken', 'accessLifetimeMs'])
  })

  it('when there is a lifetime but no refresh token, then the lifetime is ignored', () => {
    const grant = { accessToken: 'a', accessLifetimeMs: 1, refreshLifetimeMs: 5 }
    expect(checkedGrant(grant)).toEqual({ accessToken: 'a', accessLifetimeMs: 1 })
  })

  it.each(['!', '~', 'abc.DEF-123_~+/=', 'x'.repeat(60_000)])(
    'when its token is visible ASCII from end to end, then it is used unchanged',
    (accessToken) => {
      expect(checkedGrant({ accessToken, accessLifetimeMs: 1 }).accessToken).toBe(accessToken)
    },
  )

  it('when each visible ASCII character is tried, then none is rejected', () => {
    for (let code = 0x21; code <= 0x7e; code += 1)
      expect(checkedGrant({ accessToken: String.fromCharCode(code), accessLifetimeMs: 1 }).accessToken).toHaveLength(1)
  })

  it.each([Number.MIN_VALUE, 0.5, 1, 86_400_000, 1e15, Number.MAX_VALUE])(
    'when it lives %d ms, then it is used',
    (ms) => {
      expect(checkedGrant({ ...pair, accessLifetimeMs: ms, refreshLifetimeMs: ms })).toMatchObject({
        accessLifetimeMs: ms,
        refreshLifetimeMs: ms,
      })
    },
  )

  it('when it changes later, then the copy does not', () => {
    const grant = { ...pair }
    const copy = checkedGrant(grant)
    grant.accessToken = 'changed'
    expect(copy.accessToken).toBe('a')
  })

  it.each(['é', ' ', 'a b', '🗝'])(
    'when its refresh token is %j, then it is used: it travels in JSON',
    (refreshToken) => {
      expect(checkedGrant({ ...pair, refreshToken }).refreshToken).toBe(refreshToken)
    },
  )
})

describe('given an unusable grant', () => {
  it.each([
    ...['', ' ', 'hidden-value ', ' hidden-value', 'hidden value', 'a\tb', 'hidden-value\n', 'a\r\nX: hidden-value'],
    ...['a\0', 'a\u007f', 'tok€n', 'é', '\u00a0', '\u200b', '\ufeffa', '\ud800', '🗝', 'a\u2028'],
  ])('when its access token is %j, then it is rejected and not shown (F64)', (accessToken) => {
    expectRefused({ ...pair, accessToken }, 'accessToken')
  })

  it('when its access token has any other character of Latin-1, then it is rejected', () => {
    for (let code = 0; code <= 0xff; code += 1)
      if (code < 0x21 || code > 0x7e)
        expectRefused({ ...pair, accessToken: `a${String.fromCharCode(code)}b` }, 'accessToken')
  })

  it.each(['', 'a\r\nX: hidden-value', 'a\0', 'hidden-value\n', 'a\tb', 'a\u007f', 'a\u0085', '\ud800', 'a\udddd'])(
    'when its refresh token is %j, then it is rejected and not shown (F173)',
    (refreshToken) => {
      expectRefused({ ...pair, refreshToken }, 'refreshToken')
    },
  )

  it.each([0, -0, -1, -Number.MIN_VALUE, Infinity, -Infinity])(
    'when a lifetime is %d, then it is rejected (F16)',
    (ms) => {
      expectRefused({ ...pair, accessLifetimeMs: ms }, 'accessLifetimeMs')
      expectRefused({ ...pair, refreshLifetimeMs: ms }, 'refreshLifetimeMs')
    },
  )
})

describe('given a grant of the wrong shape (F155)', () => {
  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [5, 'number'],
    ['hidden-value', 'string'],
    [true, 'boolean'],
    [() => pair, 'function'],
  ])('when it is %p, then the source is broken', (grant, kind) => {
    expectBroken(grant, `got ${kind} instead of { accessToken, accessLifetimeMs }`)
  })

  it.each<[string, object, string]>([
    ['nothing', {}, 'accessToken is missing'],
    ['an array', [], 'accessToken is missing'],
    [
      'the members of an OAuth 2.0 response',
      { access_token: 'hidden-value' },
      'accessToken is missing; did you mean access_token?',
    ],
    ['no lifetime', { accessToken: 'a' }, 'accessLifetimeMs is missing'],
    ['seconds', { accessToken: 'a', expires_in: 60 }, 'accessLifetimeMs is missing; did you mean expires_in? Pass ms'],
  ])('when it has %s, then the missing member is named', (_, grant, message) => {
    expectBroken(grant, message)
  })

  it.each([null, 5, true, {}, ['hidden-value'], new String('hidden-value')])(
    'when a token is %p, then its type is named',
    (token) => {
      const kind = token === null ? 'null' : typeof token
      expectBroken({ ...pair, accessToken: token }, `accessToken must be a string, got ${kind}`)
      expectBroken({ ...pair, refreshToken: token }, `refreshToken must be a string, got ${kind}`)
    },
  )

  it.each([null, NaN, 'hidden-value', true, {}, [60], new Date(1), 5n])(
    'when a lifetime is %p, then its type is named (F16)',
    (lifetime) => {
      const kind = lifetime === null ? 'null' : Number.isNaN(lifetime) ? 'NaN' : typeof lifetime
      const wrong = `must be a number of milliseconds, got ${kind}`
      expectBroken({ ...pair, accessLifetimeMs: lifetime }, `accessLifetimeMs ${wrong}`)
      expectBroken({ ...pair, refreshLifetimeMs: lifetime }, `refreshLifetimeMs ${wrong}`)
    },
  )
})
