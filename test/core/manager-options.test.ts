import { describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { ScriptedSource } from '../support/managed.ts'
import { watchedClock } from '../support/watched-clock.ts'

it('given a source instead of the options, when a manager is created, then the error shows how to pass it', () => {
  const source = Object.assign(new ScriptedSource(), { refreshTokens: 'reusable' })
  expect(() => createTokenManager(source as never)).toThrow('source must be given: createTokenManager({ source })')
})

const create = (options: object) => () => createTokenManager({ source: new ScriptedSource(), ...options })

describe('given invalid options, when a manager is created', () => {
  it.each<[object, RegExp]>([
    [{ source: undefined }, /^source must be given: createTokenManager\({ source }\)$/],
    [{ source: { id: 7, obtain: () => 1 } }, /source\.id must be a string/],
    [{ source: { id: 'x' } }, /source\.obtain must be a function/],
    [{ source: { id: 'x', obtain: () => 1, refresh: 'no' } }, /source\.refresh must be a function, got string/],
    [{ source: { id: 'x', obtain: () => 1, reset: 'no' } }, /source\.reset must be a function, got string/],
    [{ source: { id: 'x', obtain: () => 1, origin: 7 } }, /source\.origin must be a string/],
    [
      { source: { id: 'x', obtain: () => 1, origin: 'api.example' } },
      /source\.origin must be an absolute URL, such as https/,
    ],
    [{ store: {} }, /store must be memoryStore\(\) or another store/],
    [{ store: null }, /store must be memoryStore\(\) or another store/],
    [{ store: 'redis' }, /store must be memoryStore\(\) or another store/],
    [{ storeKey: 7 }, /storeKey must be a string/],
    [{ onSuspicious: 'panic' }, /onSuspicious must be one of 'obtain', 'stop', got 'panic'/],
    [{ clock: {} }, /clock\.wallNow must be a function/],
    [{ clock: 7 }, /clock must be an object/],
    [{ random: 0.5 }, /random must be a function, got number/],
    [{ renewal: 7 }, /renewal must be an object, got number/],
    [{ renewal: { skewMs: '15s' } }, /renewal\.skewMs must be a number, got '15s'/],
    [{ renewal: { keepWarm: true } }, /renewal\.keepWarm must be one of 'while-used', 'always', 'never', got true/],
    [{ retry: 7 }, /retry must be an object, got number/],
    [{ retry: { maxAttempts: '4' } }, /retry\.maxAttempts must be a number/],
    [{ exchangeTimeoutMs: null }, /exchangeTimeoutMs must be a number, got null/],
  ])('then %p is a TypeError that names the cause', (options, message) => {
    expect(create(options)).toThrow(TypeError)
    expect(create(options)).toThrow(message)
  })

  it.each<[object, RegExp]>([
    [{ exchangeTimeoutMs: 0 }, /exchangeTimeoutMs must be .* from 1, got 0/],
    [{ exchangeTimeoutMs: Infinity }, /exchangeTimeoutMs .*Infinity/],
    [{ renewal: { skewMs: -1 } }, /renewal\.skewMs must be a finite number from 0, got -1/],
    [{ renewal: { hardSkewMs: NaN } }, /renewal\.hardSkewMs .*NaN/],
    [{ renewal: { maxWaitMs: -1 } }, /renewal\.maxWaitMs .*-1/],
    [{ renewal: { jitter: 1.01 } }, /renewal\.jitter must be a number from 0 to 1, got 1.01/],
    [{ retry: { maxAttempts: 0 } }, /retry\.maxAttempts .* from 1, got 0/],
    [{ retry: { maxAttempts: 1.5 } }, /retry\.maxAttempts must be a whole number, got 1.5/],
    [{ retry: { baseDelayMs: -1 } }, /retry\.baseDelayMs .*-1/],
    [{ retry: { maxDelayMs: -Infinity } }, /retry\.maxDelayMs .*-Infinity/],
    [{ retry: { maxRetryAfterMs: NaN } }, /retry\.maxRetryAfterMs .*NaN/],
  ])('then %p is a RangeError that names the cause', (options, message) => {
    expect(create(options)).toThrow(RangeError)
    expect(create(options)).toThrow(message)
  })

  it('then missing options are rejected too', () => {
    expect(() => createTokenManager(undefined as never)).toThrow(/options of createTokenManager/)
  })
})

it('given durations that no timer can hold, when they are used, then they count as the longest possible one', async () => {
  const clock = watchedClock()
  const tokens = create({ clock, renewal: { maxWaitMs: 1e15 }, exchangeTimeoutMs: 1e15 })()
  await tokens.getAccessToken()
  expect(Math.max(...clock.delays)).toBe(2 ** 31 - 1)
})

it('given undefined for every option, when a manager is created, then the defaults hold', () => {
  const renewal = {
    skewMs: undefined,
    hardSkewMs: undefined,
    jitter: undefined,
    keepWarm: undefined,
    maxWaitMs: undefined,
  }
  const retry = { maxAttempts: undefined, baseDelayMs: undefined, maxDelayMs: undefined, maxRetryAfterMs: undefined }
  const rest = {
    store: undefined,
    storeKey: undefined,
    exchangeTimeoutMs: undefined,
    onSuspicious: undefined,
    clock: undefined,
  }
  expect(create({ renewal, retry, ...rest, random: undefined })().status().phase).toBe('empty')
})
