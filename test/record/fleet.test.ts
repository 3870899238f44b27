import { describe, expect, it } from '@jest/globals'
import { countsItself, ownersAfter, turnsMs, withOwner } from '../../src/record/fleet.ts'
import type { RecordState } from '../../src/record/record-shape.ts'
import { EMPTY } from '../../src/record/record-state.ts'

const HOUR = 3_600_000
const stateOf = (owners?: number, accessLifetimeMs = HOUR): RecordState => ({
  ...EMPTY,
  owners,
  tokens: { ...({} as NonNullable<RecordState['tokens']>), accessLifetimeMs },
})

/** All owners of a fleet adopt the tokens of one renewal, each in another millisecond. */
function adopt(state: RecordState, count: number): { state: RecordState; writes: number } {
  let writes = 0
  for (let n = 0; n < count; n += 1) {
    if (!countsItself(state, { now: (n * 7_919) % 1_000_003 })) continue
    writes += 1
    state = withOwner(state)
  }
  return { state, writes }
}

describe('given owners that adopt the tokens of each renewal (F358)', () => {
  it.each([
    [50, 4],
    [2_000, 100],
    [20_000, 300],
  ])(
    'when there are %d, then the record soon counts between that number and twice that number, with at most %d writes',
    (count, most) => {
      let state = stateOf()
      for (let renewal = 0; renewal < 10; renewal += 1) {
        const adopted = adopt({ ...state, owners: ownersAfter(state) }, count)
        expect(adopted.writes).toBeLessThanOrEqual(most)
        state = adopted.state
      }
      expect(state.owners! / count).toBeGreaterThan(1)
      expect(state.owners! / count).toBeLessThan(3)
    },
  )

  it('when there are few, or no longer any, then the record counts none', () => {
    expect([undefined, 1, 3].map((owners) => ownersAfter(stateOf(owners)))).toEqual([undefined, undefined, 1])
  })

  it.each([
    [undefined, HOUR, 0],
    [255, HOUR, 0],
    [256, HOUR, 256_000],
    [1_800, HOUR, 1_800_000],
    [1_801, HOUR, 1_800_000],
    [300, 60_000, 30_000],
  ])(
    'when the record counts %s, and a token lives for %d ms, then their turns take %d ms',
    (owners, lifetimeMs, ms) => {
      expect(turnsMs(stateOf(owners, lifetimeMs))).toBe(ms)
    },
  )

  it('when there is no record, or there are no tokens, then no owner waits for a turn', () => {
    expect([turnsMs(), turnsMs({ ...EMPTY, owners: 5_000 })]).toEqual([0, 0])
  })
})
