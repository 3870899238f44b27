import { describe, expect, it } from '@jest/globals'
import { systemClock } from '../../src/core/clock.ts'
import { TokenClock } from '../../src/core/token-clock.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

function world() {
  const clock = manualClock()
  const jumps: number[] = []
  const tokenClock = new TokenClock(clock, (byMs) => jumps.push(byMs))
  const since = tokenClock.now()
  return { clock, jumps, tokenClock, age: () => tokenClock.now() - since }
}

describe('given a token clock', () => {
  it('when both clocks run, then it runs with them', async () => {
    const { clock, age, jumps } = world()
    await clock.advance(90_000)
    expect([age(), jumps]).toEqual([90_000, []])
  })

  it.each([
    [2_000, 0, []],
    [2_001, 2_001, [2_001]],
    [3_600_000, 3_600_000, [3_600_000]],
    [-2_000, 0, []],
    [-2_001, 0, [-2_001]],
    [-3_600_000, 0, [-3_600_000]],
  ])('when only the wall clock moves, by %i ms, then a token ages by %i ms', (byMs, agedMs, told) => {
    const { clock, age, jumps } = world()
    clock.stepWall(byMs)
    expect([age(), jumps]).toEqual([agedMs, told])
    expect(age()).toBe(agedMs) // the jump counts once
  })

  it('when the clock is set back and the machine then sleeps, then the sleep counts', () => {
    const { clock, age } = world()
    clock.stepWall(-7_200_000)
    age()
    clock.stepWall(3_600_000)
    expect(age()).toBe(3_600_000)
  })

  it('when the wall clock drifts, then a new start discards the drift', () => {
    const { clock, tokenClock, jumps } = world()
    for (let month = 0; month < 5; month += 1) {
      clock.stepWall(1_500)
      tokenClock.start()
    }
    expect(jumps).toEqual([])
  })
})

it('given the system clock, when a timer is set, cancelled or too long, then it behaves like a timer', async () => {
  const fired: string[] = []
  systemClock.setTimer(() => fired.push('cancelled'), 0)()
  // Node would replace 2^31 ms by 1 ms, and emit a warning, which fails the test.
  const cancelLong = systemClock.setTimer(() => fired.push('too long'), 2 ** 31)
  await new Promise<void>((resolve) => systemClock.setTimer(resolve, 5, true))
  cancelLong()
  expect(fired).toEqual([])
  const before = Date.now()
  const now = systemClock.wallNow()
  expect([now >= before, now <= Date.now() + 1]).toEqual([true, true])
})
