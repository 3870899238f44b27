import { describe, expect, it } from '@jest/globals'
import { momentOf, ServiceClock } from '../../src/service/service-clock.ts'
import { parseTimestamp } from '../../src/service/timestamp.ts'
import { manualClock, type ManualClock } from '../../src/testing/manual-clock.ts'
import { NOW, SECOND } from './variant-b.ts'

const TIME = '2030-06-01T12:00:00.000500Z'
const time = parseTimestamp(TIME)!
const DATE = 'Sat, 01 Jun 2030 13:00:00 GMT'
const dated = Date.UTC(2030, 5, 1, 13)

/** A service clock. A request that was sent at the start has set it, unless `isSet` is false. */
function started({ isSet = true } = {}) {
  const clock = manualClock()
  const serviceClock = new ServiceClock()
  if (isSet) serviceClock.set(time, momentOf(clock))
  return { clock, serviceClock, at: (date?: unknown) => serviceClock.at(momentOf(clock), date) }
}

describe('given a service clock that meta.time has set', () => {
  it.each([0, 1, 30 * SECOND, 86_400 * SECOND])(
    'when %d ms pass, then it has gone on as long, whatever Date says (F15)',
    async (ms) => {
      const { clock, at } = started()
      await clock.advance(ms)
      expect([at(), at(DATE), at('nonsense')]).toEqual(Array(3).fill(time.at + ms))
    },
  )

  it.each([-2_000, -1_999, -1, 1, 1_999, 2_000])(
    'when the wall clock steps by %d ms, then nothing changes',
    async (ms) => {
      const { clock, at } = started()
      await clock.advance(10 * SECOND)
      clock.stepWall(ms)
      expect(at(DATE)).toBe(time.at + 10 * SECOND)
    },
  )

  it.each([-86_400_000, -2_001, 2_001, 86_400_000])(
    'when the wall clock jumps by %d ms, then Date counts, its next second; without one it goes on (F14)',
    async (ms) => {
      const { clock, at } = started()
      await clock.advance(10 * SECOND)
      clock.stepWall(ms)
      expect(at(DATE)).toBe(dated + SECOND)
      expect([at(), at('yesterday'), at('2030-06-01T13:00:00Z'), at(5)]).toEqual(Array(4).fill(time.at + 10 * SECOND))
    },
  )

  it('when the wall clock creeps away by steps that add up, then they count as one jump', async () => {
    const { clock, at } = started()
    clock.stepWall(1_500)
    expect(at(DATE)).toBe(time.at)
    clock.stepWall(501)
    expect(at(DATE)).toBe(dated + SECOND)
    clock.stepWall(-2_001)
    expect(at(DATE)).toBe(time.at)
  })

  it('when it is set again after a jump, then the jump is forgotten', async () => {
    const { clock, serviceClock, at } = started()
    clock.stepWall(86_400_000)
    await clock.advance(SECOND)
    serviceClock.set(parseTimestamp('2030-06-01T14:00:00Z')!, momentOf(clock))
    await clock.advance(SECOND)
    expect(at(DATE)).toBe(Date.UTC(2030, 5, 1, 14, 0, 1))
  })

  it('when it is asked what was accepted last, then it tells that, to the nanosecond', () => {
    expect(started().serviceClock.lastTime).toEqual({ at: time.at, restNs: 500_000, hasZone: true })
  })

  it('when it forgets, then it knows nothing but Date', () => {
    const { serviceClock, at } = started()
    serviceClock.forget()
    expect([serviceClock.lastTime, at(), at(DATE)]).toEqual([undefined, undefined, dated + SECOND])
  })
})

describe('given two answers whose meta.time lies before the last one (F165)', () => {
  const LATER = '2030-06-01T11:00:00.000000Z'
  const after = (ms: number) => parseTimestamp(new Date(Date.parse(LATER) + ms).toISOString())!

  it.each([
    [0, 500, false],
    [1, 500, true],
    [500, 500, true],
    [2_500, 500, true],
    [2_501, 500, false],
    [57_999, 60_000, false],
    [58_000, 60_000, true],
    [62_000, 60_000, true],
    [62_001, 60_000, false],
    [-1, 500, false],
    [3_600_000, 3_600_000, true],
  ])(
    'when it advances by %d ms in %d ms here, then the service has put its clock back: %p',
    async (there, here, back) => {
      const { clock, serviceClock } = started()
      expect(serviceClock.hasGoneBack(after(0), momentOf(clock))).toBe(false)
      await clock.advance(here)
      expect(serviceClock.hasGoneBack(after(there), momentOf(clock))).toBe(back)
    },
  )

  it('when the wall clock of this machine jumps between them, then that means nothing', async () => {
    const { clock, serviceClock } = started()
    serviceClock.hasGoneBack(after(0), momentOf(clock))
    clock.stepWall(86_400 * SECOND)
    await clock.advance(500)
    expect(serviceClock.hasGoneBack(after(500), momentOf(clock))).toBe(true)
  })

  it.each([
    ['one is accepted', (serviceClock: ServiceClock, clock: ManualClock) => serviceClock.set(time, momentOf(clock))],
    ['all is forgotten', (serviceClock: ServiceClock) => serviceClock.forget()],
  ])('when %s between them, then they are not two in a row', async (_, act) => {
    const { clock, serviceClock } = started()
    serviceClock.hasGoneBack(after(0), momentOf(clock))
    act(serviceClock, clock)
    await clock.advance(500)
    expect(serviceClock.hasGoneBack(after(500), momentOf(clock))).toBe(false)
  })
})

describe('given a service clock that was never set', () => {
  it.each([
    ['IMF-fixdate', DATE, dated + SECOND],
    ['RFC 850', 'Saturday, 01-Jun-30 13:00:00 GMT', dated + SECOND],
    ['asctime', 'Sat Jun  1 13:00:00 2030', dated + SECOND],
    ['missing', undefined, undefined],
    ['empty', '', undefined],
    ['ISO 8601', TIME, undefined],
    ['a number', NOW, undefined],
    ['30 February', 'Sat, 30 Feb 2030 13:00:00 GMT', undefined],
  ])('when Date is %s, then that is all it can say', (_, date, expected) => {
    expect(started({ isSet: false }).at(date)).toBe(expected)
  })
})

describe('given the clocks of this machine', () => {
  it('when a moment is taken, then it holds both', async () => {
    const clock = manualClock()
    await clock.advance(5)
    clock.stepWall(7)
    expect(momentOf(clock)).toEqual({ wall: NOW + 12, monotonic: 5 })
  })
})
