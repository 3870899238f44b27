import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import { AxiosError, AxiosHeaders } from 'axios'
import {
  errorWith,
  type ExchangeOutcome,
  isTokenError,
  outcomeOf,
  TokenError,
  type TokenErrorCode,
} from '../../src/core/errors.ts'
import { toTokenError } from '../../src/wire/to-token-error.ts'
import type * as Errors from '../../src/core/errors.ts'
import { logged } from '../support/canary.ts'

const CODES: [TokenErrorCode, boolean, ExchangeOutcome][] = [
  ['ERR_CREDENTIALS_REJECTED', false, 'rejected'],
  ['ERR_REFRESH_REJECTED', true, 'rejected'],
  ['ERR_SUSPICIOUS_REFRESH_TOKEN', false, 'unknown'],
  ['ERR_THROTTLED', true, 'deferred'],
  ['ERR_TOKEN_SERVICE_UNAVAILABLE', true, 'unknown'],
  ['ERR_TOKEN_REQUEST', false, 'rejected'],
  ['ERR_TOKEN_RESPONSE', true, 'unknown'],
  ['ERR_SIGNATURE', false, 'unknown'],
  ['ERR_WAIT_TIMEOUT', true, 'unknown'],
  ['ERR_REPLACED_TOO_SOON', true, 'unknown'],
  ['ERR_STORE_UNAVAILABLE', true, 'unknown'],
  ['ERR_CLOSED', false, 'unknown'],
  ['ERR_TOKEN_SOURCE', false, 'unknown'],
]

/** A second copy of the module, as in a program that loads the package both as ESM and as CommonJS. */
function secondCopy(): typeof Errors {
  let copy: typeof Errors | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<typeof Errors>('../../src/core/errors.ts')
  })
  return copy!
}

describe('given the codes of TokenError', () => {
  it.each(CODES)('when it is %s, then retryable is %s, and an unstated outcome is %s', (code, retryable, outcome) => {
    const error = new TokenError(code, 'what happened')
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ code, retryable, message: 'what happened', name: 'TokenError' })
    expect(outcomeOf(error)).toBe(outcome)
    expect(String(error)).toBe('TokenError: what happened')
    expect(error.stack).toMatch(/^TokenError: what happened\n/)
  })

  it.each<ExchangeOutcome>(['accepted', 'rejected', 'deferred', 'not-sent', 'unknown-5xx', 'unknown'])(
    'when the outcome %s is stated, then it overrides that of the code',
    (outcome) => {
      for (const [code] of CODES) expect(outcomeOf(new TokenError(code, '', { outcome }))).toBe(outcome)
    },
  )
})

describe('given the details of a TokenError', () => {
  const details = {
    outcome: 'deferred',
    status: 429,
    serviceCode: 'throttled',
    retryAfterMs: 5_000,
    retryAt: 7,
    refreshToken: 'kept',
  } as const

  it('when they are given, then each is a member', () => {
    expect(new TokenError('ERR_THROTTLED', 'm', details)).toMatchObject(details)
  })

  it('when they are zero, then they are members too', () => {
    const nothing = { retryAfterMs: 0, retryAt: 0, status: 0, serviceCode: '' }
    expect(new TokenError('ERR_THROTTLED', 'm', nothing)).toMatchObject(nothing)
  })

  it.each([
    undefined,
    {},
    { outcome: undefined, status: undefined, serviceCode: undefined, retryAt: undefined, cause: undefined },
  ])('when they are %p, then the members are absent', (none) => {
    const error = new TokenError('ERR_CLOSED', 'm', none)
    expect(Object.keys(error).sort()).toEqual(['code', 'retryable'])
    expect('cause' in error).toBe(false)
  })

  it('when it is serialised as JSON, then programs and readers find what they need, and nothing of the chain (F192)', () => {
    const error = new TokenError('ERR_THROTTLED', 'm', { ...details, cause: new Error('inner') })
    const described = { name: 'TokenError', message: 'm', code: 'ERR_THROTTLED', retryable: true }
    expect(JSON.parse(JSON.stringify(error))).toEqual({ ...described, ...details })
  })

  it.each([NaN, Infinity, -Infinity, -1])('when its Retry-After is %d ms, then it has none (F153)', (retryAfterMs) => {
    expect(new TokenError('ERR_THROTTLED', 'm', { retryAfterMs })).not.toHaveProperty('retryAfterMs')
  })

  it('when it is copied with a new instant, then nothing else changes', () => {
    const { retryAt, ...before } = details
    const error = new TokenError('ERR_THROTTLED', 'm', { ...before, cause: new TokenError('ERR_CLOSED', 'inner') })
    const again = errorWith(error, { retryAt })
    expect(again).toMatchObject({ code: 'ERR_THROTTLED', message: 'm', ...details })
    expect(again.cause).toBe(error.cause)
    expect(errorWith(error, { message: 'other', retryAt: 8 })).toMatchObject({ message: 'other', retryAt: 8 })
    expect(error.retryAt).toBeUndefined()
  })
})

describe('given a value that may be a TokenError', () => {
  const impostor = Object.assign(new Error('m'), { name: 'TokenError', code: 'ERR_CLOSED', retryable: false })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['text', 'ERR_CLOSED'],
    ['a symbol', Symbol.for('axios-evergreen.TokenError')],
    ['a bigint', 5n],
    ['true', true],
    ['an object', { code: 'ERR_CLOSED' }],
    ['an object without prototype', Object.create(null)],
    ['an array', [new TokenError('ERR_CLOSED', 'm')]],
    ['an Error', new Error('m')],
    ['an Error that looks like one', impostor],
    ['an axios error', new AxiosError('m', 'ERR_CLOSED')],
    ['the class itself', TokenError],
    ['a function', () => new TokenError('ERR_CLOSED', 'm')],
    ['a promise of one', Promise.resolve(new TokenError('ERR_CLOSED', 'm'))],
  ])('when it is %s, then it is not one', (_, value) => {
    expect(isTokenError(value)).toBe(false)
    expect(isTokenError(value, 'ERR_CLOSED')).toBe(false)
    expect(value instanceof TokenError).toBe(false)
  })

  it('when a code is given, then the error must have it', () => {
    const error: unknown = new TokenError('ERR_CLOSED', 'm')
    expect(isTokenError(error)).toBe(true)
    for (const [code] of CODES) expect(isTokenError(error, code)).toBe(code === 'ERR_CLOSED')
  })

  it('when it comes from another copy of the package, then each copy recognises it (F126)', () => {
    const other = secondCopy()
    expect(other.TokenError).not.toBe(TokenError)
    const [ours, theirs] = [new TokenError('ERR_CLOSED', 'm'), new other.TokenError('ERR_CLOSED', 'm')]
    expect(theirs).toBeInstanceOf(TokenError)
    expect(ours).toBeInstanceOf(other.TokenError)
    expect(isTokenError(theirs, 'ERR_CLOSED')).toBe(true)
    expect(other.isTokenError(ours, 'ERR_CLOSED')).toBe(true)
    expect(other.isTokenError(impostor)).toBe(false)
    expect(toTokenError(theirs, 'obtain')).toBe(theirs)
  })

  it('when its class extends TokenError, then it is an instance of both, and not of a sibling class', () => {
    class VaultError extends TokenError {
      readonly vault = 'north'
    }
    class OtherError extends TokenError {}
    const error = new VaultError('ERR_CLOSED', 'm', { status: 503 })
    expect(error).toBeInstanceOf(VaultError)
    expect(error).toBeInstanceOf(TokenError)
    expect(error).not.toBeInstanceOf(OtherError)
    expect(new TokenError('ERR_CLOSED', 'm')).not.toBeInstanceOf(VaultError)
    expect(error).toMatchObject({ vault: 'north', status: 503, retryable: false })
    expect(isTokenError(error, 'ERR_CLOSED')).toBe(true)
  })

  it('when its class sets another name, then it has that name', () => {
    class VaultError extends TokenError {
      override readonly name = 'VaultError'
    }
    expect(String(new VaultError('ERR_CLOSED', 'm'))).toBe('VaultError: m')
  })

  it('when its members are enumerated, then there is no mark and no name', () => {
    const error = new TokenError('ERR_CLOSED', 'm')
    expect(Object.getOwnPropertySymbols(error)).toEqual([])
    const seen: string[] = []
    for (const name in error) seen.push(name)
    expect(seen).not.toContain('name')
  })
})

describe('given the cause of a TokenError', () => {
  const WITHHELD = '(message withheld: it may hold a secret)'
  const caused = (cause: unknown) => new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'm', { cause })

  it('when it is an axios error, then its request and response are removed (F128)', () => {
    const config = {
      url: 'https://tokens.example/hidden-value',
      data: '{"client_secret":"hidden-value"}',
      headers: new AxiosHeaders({ Authorization: 'Bearer hidden-value' }),
    }
    const response = { status: 400, statusText: '', data: 'hidden-value', headers: {}, config }
    const cause = new AxiosError('Request failed', 'ERR_BAD_REQUEST', config, { path: 'hidden-value' }, response)
    const error = caused(cause)
    expect(error.cause).toMatchObject({ name: 'AxiosError', message: WITHHELD, code: 'ERR_BAD_REQUEST' })
    expect(Object.keys(error.cause as object).sort()).toEqual(['code', 'name'])
    expect(logged(error)).not.toContain('hidden-value')
    expect(inspect(cause, { depth: Infinity })).toContain('hidden-value')
  })

  it.each<[string, unknown, object]>([
    ['an Error', new Error('hidden-value'), { name: 'Error', message: WITHHELD }],
    [
      'an Error with a code',
      Object.assign(new Error('hidden-value'), { code: 'EVAULT' }),
      { message: WITHHELD, code: 'EVAULT' },
    ],
    ['an Error of another class', new RangeError('hidden-value'), { name: 'RangeError', message: WITHHELD }],
    [
      'an object with a message',
      { message: 'hidden-value', secret: 'hidden-value' },
      { name: 'Error', message: WITHHELD },
    ],
    ['an object without a message', { secret: 'hidden-value' }, { message: 'a thrown object' }],
    [
      'a message that is not a string',
      { message: { secret: 'hidden-value' }, name: ['hidden-value'] },
      { message: 'a thrown object' },
    ],
    [
      'a code that is not a string',
      Object.assign(new Error('hidden-value'), { code: { secret: 'hidden-value' } }),
      { message: WITHHELD },
    ],
    ['text', 'hidden-value', { message: 'a thrown string' }],
    ['a number', 5, { message: 'a thrown number' }],
    ['null', null, { message: 'a thrown object' }],
    ['a function', () => 'hidden-value', { message: 'a thrown function' }],
    ['a symbol', Symbol('hidden-value'), { message: 'a thrown symbol' }],
    [
      'an Error with more members',
      Object.assign(new Error('hidden-value', { cause: new Error('hidden-value') }), {
        stack: 'hidden-value',
        config: 'hidden-value',
      }),
      { message: WITHHELD },
    ],
    [
      'an aggregate',
      new AggregateError([new Error('hidden-value')], 'hidden-value'),
      { name: 'AggregateError', message: WITHHELD },
    ],
  ])('when it is %s, then only its name and code are kept', (_, cause, kept) => {
    const error = caused(cause)
    expect(error.cause).toBeInstanceOf(Error)
    expect(error.cause).toMatchObject(kept)
    expect(error.cause).not.toBe(cause)
    expect((error.cause as Error).cause).toBeUndefined()
    expect(logged(error)).not.toContain('hidden-value')
  })

  it('when it is a TokenError, of either copy, then it stays unchanged', () => {
    for (const inner of [new TokenError('ERR_CLOSED', 'inner'), new (secondCopy().TokenError)('ERR_CLOSED', 'inner')])
      expect(caused(inner).cause).toBe(inner)
  })

  it('when it is printed with the error, then it is not enumerable', () => {
    expect(Object.keys(caused(new Error('hidden-value')))).not.toContain('cause')
  })
})
