import { describe, expect, it } from '@jest/globals'
import type { StoredTokenSet, RecordState } from '../../src/record/record-shape.ts'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import { presentableIn } from '../../src/core/refresh-fate.ts'
import { tokensIn, whyMissing } from '../../src/record/record-views.ts'

/** A user logs in. */
const LOGIN = { inDoubt: LOGIN_RULES.inDoubt }
const NOW = Date.UTC(2026, 0, 1)
const PAIR: StoredTokenSet = {
  ...{ at: NOW, accessToken: 'a', accessLifetimeMs: 60_000, accessMs: 60_000, refreshToken: 'r', fence: 1 },
  ...{ retired: false, presentations: 0, overlapped: false },
}
const { refreshToken: _, ...WITHOUT } = PAIR
const DOUBTED: StoredTokenSet = { ...PAIR, doubtAt: NOW - 5_000 }

describe('given the token set of a record, when an owner checks whether its refresh token may be presented (R8)', () => {
  const YES = { presentable: true, isDoubted: false }
  const NO = { presentable: false, isDoubted: false }

  it.each<[string, StoredTokenSet | undefined, object, object]>([
    ['there is no token set', undefined, { ...LOGIN }, NO],
    ['it has no refresh token', WITHOUT, { ...LOGIN }, NO],
    ['it is retired', { ...PAIR, retired: true }, { ...LOGIN }, NO],
    ['nothing is in doubt', PAIR, {}, YES],
    ['nothing is in doubt, for a login', PAIR, { ...LOGIN }, YES],
    ['it is in doubt', DOUBTED, {}, { presentable: false, isDoubted: true }],
    ['it is in doubt within the grace', DOUBTED, { graceMs: 5_001 }, { presentable: true, isDoubted: true }],
    ['it is in doubt just after the grace', DOUBTED, { graceMs: 5_000 }, { presentable: false, isDoubted: true }],
    ['it is reusable', DOUBTED, { graceMs: Infinity }, YES],
    [
      'it is in doubt, for a login: as a last resort',
      DOUBTED,
      { ...LOGIN },
      { presentable: true, isDoubted: true, isLastResort: true },
    ],
    [
      'it is in doubt within the grace, for a login',
      DOUBTED,
      { ...LOGIN, graceMs: 5_001 },
      { presentable: true, isDoubted: true },
    ],
  ])('when %s, then the result is right', (_, tokens, terms, expected) => {
    expect(presentableIn(tokens, terms, NOW)).toEqual(expected)
  })

  it('when it was rejected with an unknown error, then the result says since when', () => {
    const unclear = { at: NOW - 7_000, says: 'it', times: 2 }
    expect(presentableIn({ ...PAIR, unclear }, {}, NOW)).toMatchObject({ unclear: { says: 'it', sinceMs: 7_000 } })
  })
})

it('given a record without a token set, when an owner asks for the reason, then it is: lost, logged out, or none yet', () => {
  const of = (version: number, clearedFence: number) => ({ version, clearedFence }) as RecordState
  expect([whyMissing(of(1, 9), 2), whyMissing(of(2, 9), 2), whyMissing(of(2, 0), 2)]).toEqual([
    ...['lost', 'logged-out', 'none-yet'],
  ])
})

it('given the tokens of a record, when they are read, then unknown members are absent', () => {
  const state = { version: 1, login: 0 } as RecordState
  expect(tokensIn(state, WITHOUT, NOW)).toEqual({
    ...{ version: 1, accessToken: 'a', accessLifetimeMs: 60_000, accessRemainingMs: 60_000 },
  })
})
