import { describe, expect, it } from '@jest/globals'
import type { RecordState } from '../../src/record/record-shape.ts'
import { EMPTY } from '../../src/record/record-state.ts'
import { type Slot, throughSlot, type Written } from '../../src/resources/slot-view.ts'

const NOW = 1_000_000
const SLOT: Slot = { at: NOW, accessToken: 'token', accessLifetimeMs: 60_000, accessMs: 60_000, usedAt: NOW }
const TOKENS = {
  ...{ at: NOW, accessToken: 'own', accessLifetimeMs: 60_000, accessMs: 60_000, refreshToken: 'one', fence: 1 },
  ...{ retired: false, presentations: 0, unclear: undefined, doubtAt: undefined, overlapped: false },
}

function recordWith(slots: Record<string, unknown>, fence = 1): RecordState {
  return { ...EMPTY, login: 1, tokens: { ...TOKENS, fence }, resources: { login: 1, slots } }
}

/** Runs the step that stores a token for the resource `mine`, once for each state. */
function stored(states: readonly RecordState[], used: string[] = [], now = NOW, accessToken = 'new') {
  const told: Written[] = []
  const use = { digest: 'mine', used: () => used, onRun: (written: Written) => void told.push(written) }
  const seen: (RecordState | undefined)[] = []
  const step = throughSlot((state) => {
    seen.push(state)
    if (state?.tokens?.fence === 9) return { state: undefined, result: undefined }
    return { state: { ...state!, tokens: { ...state!.tokens!, accessToken, fence: 2 } }, result: undefined }
  }, use)
  const after = states.map((state) => step(state, { now }).state)
  const slots = after.map((state) => (state?.resources as { slots: Record<string, Slot> } | undefined)?.slots)
  return { told, seen, slots, last: slots.at(-1)! }
}

describe('given a step of a record, as the manager of one resource sees it', () => {
  it('when the store runs it again, then the result is the same, and the last run says what was written', () => {
    const state = recordWith({ other: { ...SLOT, usedAt: 1 } })
    const { told, slots } = stored([state, state], ['other'])
    expect(slots[1]).toEqual(slots[0])
    expect(slots[0]!.other!.usedAt).toBe(NOW)
    expect(told).toEqual([0, 1].map(() => ({ used: ['other'], tooLarge: [] })))
    const large = stored([state, recordWith({}, 9)], ['other'], NOW, 'x'.repeat(60_000)).told
    expect(large).toEqual([
      { used: ['other'], tooLarge: ['mine'] },
      { used: [], tooLarge: [] },
    ])
  })

  it.each([0, 8, 20])('when there are too many, and %i were used later than now, then its own token stays', (ahead) => {
    const others = Array.from({ length: 20 }, (_, n) => [`api-${n}`, { ...SLOT, usedAt: NOW + ahead - n }] as const)
    const { last } = stored([recordWith({ mine: { ...SLOT, usedAt: 0 }, ...Object.fromEntries(others) })])
    expect(Object.keys(last).sort()).toEqual(['mine', ...others.slice(0, 15).map(([name]) => name)].sort())
  })

  it('when a resource rests until the login ends, then its slot stays, although its token has expired', () => {
    const coolDown = { at: 0, ms: null, isFirm: true, failures: 1, code: 'ERR_TOKEN_REQUEST' }
    const { last } = stored([recordWith({ resting: { ...SLOT, at: 0, coolDown }, expired: { ...SLOT, at: 0 } })])
    expect(Object.keys(last).sort()).toEqual(['mine', 'resting'])
  })

  it('when the clock was set back, then no duration of a token is longer than it was', () => {
    const [state] = stored([recordWith({ mine: { ...SLOT, dueMs: 50_000 } })], [], NOW - 3_600_000).seen
    expect(state!.tokens).toMatchObject({ accessMs: 0, dueMs: 50_000 })
  })
})
