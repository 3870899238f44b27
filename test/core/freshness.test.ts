import { describe, expect, it } from '@jest/globals'
import { freshnessOf, renewalWindow } from '../../src/core/freshness.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe('given no windows in the options', () => {
  it.each([
    // lifetime, skew, hard skew
    [500, 250, 125],
    [2_000, 1_000, 500],
    [4_000, 2_000, 1_000],
    [8_000, 2_000, 1_000],
    [20_000, 5_000, 1_000],
    [MINUTE, 15_000, 3_000],
    [10 * MINUTE, 150_000, 10_000],
    [20 * MINUTE, 300_000, 10_000],
    [DAY, 300_000, 10_000],
  ])(
    'when a token lives %i ms, then it is due at %i ms and expired at %i ms of remaining life',
    (lifetime, skewMs, hardSkewMs) => {
      expect(renewalWindow(lifetime, { jitter: 0.2 }, 0)).toEqual({ skewMs, hardSkewMs })
    },
  )
})

describe('given windows in the options', () => {
  it.each([
    [{ skewMs: 20_000 }, { skewMs: 20_000, hardSkewMs: 3_000 }],
    [{ skewMs: 40_000 }, { skewMs: 30_000, hardSkewMs: 3_000 }],
    [{ hardSkewMs: 15_001 }, { skewMs: 15_000, hardSkewMs: 15_000 }],
    [
      { skewMs: 0, hardSkewMs: 0 },
      { skewMs: 0, hardSkewMs: 0 },
    ],
  ])(
    'when a token lives one minute, then %j results in %j: never more than half and a quarter of its life',
    (settings, window) => {
      expect(renewalWindow(MINUTE, { ...settings, jitter: 0 }, 0.9)).toEqual(window)
    },
  )
})

it('given jitter, when it is drawn, then renewal is earlier by up to that share of the skew', () => {
  expect(renewalWindow(MINUTE, { jitter: 0.2 }, 0.5)).toEqual({ skewMs: 16_500, hardSkewMs: 3_000 })
  expect(renewalWindow(MINUTE, { jitter: 1 }, 0.5).skewMs).toBe(22_500)
})

it('given the largest windows, when jitter is added, then a quarter of the lifetime remains', () => {
  expect(renewalWindow(MINUTE, { skewMs: 1e9, jitter: 1 }, 0.999).skewMs).toBe(45_000)
})

it.each([
  [15_001, 'fresh'],
  [15_000, 'due'],
  [3_001, 'due'],
  [3_000, 'expired'],
  [0, 'expired'],
  [-1, 'expired'],
])('given windows of 15 s and 3 s, when %i ms remain, then the token is %s (F20)', (remainingMs, freshness) => {
  expect(freshnessOf(remainingMs, { skewMs: 15_000, hardSkewMs: 3_000 })).toBe(freshness)
})

it('given a skew below the hard skew, when the token ages, then it goes from fresh to expired', () => {
  const window = { skewMs: 0, hardSkewMs: 3_000 }
  expect([3_001, 3_000].map((remainingMs) => freshnessOf(remainingMs, window))).toEqual(['fresh', 'expired'])
})
