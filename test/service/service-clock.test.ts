import { describe, expect, it } from '@jest/globals'
import { isSetBack, momentOf, ServiceClock } from '../../src/service/service-clock.ts'
import { parseTimestamp, type Timestamp } from '../../src/service/timestamp.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { NOW, SECOND } from './variant-b.ts'

const TIME = '2030-06-01T12:00:00.000500Z'
const time = parseTimestamp(TIME)!
const DATE = 'Sat, 01 Jun 2030 13:00:00 GMT'
const dated = Date.UTC(2030, 5, 1, 13)

/** A response to a request that is sent now. */
const seen = (clock: ManualClock, time: Timestamp, refresh = 'refresh-1') => ({ time, refresh, sent: momentOf(clock) })

/** A service clock. A request sent at the start has set it, unless `isSet` is false. */
function started({ isSet = true } = {}) {
  const clock = manualClock()
  const serviceClock = new ServiceClock()
  if (isSet) serviceClock.set(seen(clock, time))
  return { clock, serviceClock, at: (date?: unknown) => serviceClock.at(momentOf(clock), date) }
}

describe('given a service clock that meta.time has set', () => {
  it.each([0, 1, 30 * SECOND, 86_400 * SECOND])(
    'when %d ms pass, then it has advanced as much, whatever Date says (F15)',
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
    'when the wall clock jumps by %d ms, then Date counts, rounded up to its next second; without one the clock advances (F14)',
    async (ms) => {
      const { clock, at } = started()
      await clock.advance(10 * SECOND)
      clock.stepWall(ms)
      expect(at(DATE)).toBe(dated + SECOND)
      expect([at(), at('yesterday'), at('2030-06-01T13:00:00Z'), at(5)]).toEqual(Array(4).fill(time.at + 10 * SECOND))
    },
  )

  it('when the wall clock drifts in steps that add up, then they count as one jump', async () => {
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
    serviceClock.set(seen(clock, parseTimestamp('2030-06-01T14:00:00Z')!))
    await clock.advance(SECOND)
    expect(at(DATE)).toBe(Date.UTC(2030, 5, 1, 14, 0, 1))
  })

  it.each([
    ['2030-06-01T12:00:00.000500001Z', 'refresh-1', 'newer'],
    ['2030-06-01T12:00:00.000500Z', 'refresh-2', 'newer'],
    ['2030-06-01T12:00:00.000500Z', 'refresh-1', 'old'],
    ['2030-06-01T12:00:00.000499999Z', 'refresh-2', 'old'],
  ])('when it judges a response of %s with %s, then the result is %s (F79)', (text, refresh, age) => {
    const { clock, serviceClock } = started()
    expect(serviceClock.judge(seen(clock, parseTimestamp(text)!, refresh))).toBe(age)
  })

  it('when it is reset, then it only uses Date, and has no zone of the service (F230)', () => {
    const { clock, serviceClock, at } = started()
    serviceClock.forget()
    expect([at(), at(DATE), serviceClock.zoneWasSeen]).toEqual([undefined, dated + SECOND, true])
    expect(serviceClock.judge(seen(clock, parseTimestamp('1999-01-01T00:00:00Z')!))).toBe('newer')
  })

  it('when no response had a zone, then it has seen none (F230)', () => {
    const { clock, serviceClock } = started({ isSet: false })
    serviceClock.set(seen(clock, parseTimestamp('2030-06-01 12:00:00')!))
    expect(serviceClock.zoneWasSeen).toBe(false)
  })
})

describe('given two responses in a row whose meta.time is before the last one (F165, F232)', () => {
  /** @returns Whether they show that the service has set its clock back. All in ms. */
  function areSetBack({ there, here, wallAhead = 0 }: { there: number; here: number; wallAhead?: number }): boolean {
    const at = (ms: number) => parseTimestamp(new Date(NOW + ms).toISOString())!
    const sent = (ms: number) => ({ wall: NOW + wallAhead + ms, monotonic: ms })
    const [refresh, second] = ['refresh-0', 'refresh-1']
    return isSetBack({ time: at(0), refresh, sent: sent(0) }, { time: at(there), refresh: second, sent: sent(here) })
  }

  it.each([
    [0, 500, false],
    [1, 500, true],
    [500, 500, true],
    [2_500, 500, true],
    [2_501, 500, false],
    [-1, 500, false],
    [27_999, 30_000, false],
    [28_000, 30_000, true],
    [32_000, 30_000, true],
    [32_001, 30_000, false],
  ])('when it advances by %d ms in %d ms here, then the service has set its clock back: %p', (there, here, isBack) => {
    expect(areSetBack({ there, here })).toBe(isBack)
  })

  it.each([
    [30_000, true],
    [30_001, false],
    [60_000, false],
    [600_000, false],
    [3_600_000, false],
  ])('when they are %d ms apart, at the pace of the service, then that proves it: %p (F232)', (ms, isBack) => {
    expect(areSetBack({ there: ms, here: ms })).toBe(isBack)
  })

  it.each([
    [-300_001, false],
    [-300_000, true],
    [300_000, true],
    [300_001, false],
    [30 * 86_400_000, false],
  ])('when this machine’s clock is %d ms ahead of them, then that proves it: %p (F232)', (wallAhead, isBack) => {
    expect(areSetBack({ there: 500, here: 500, wallAhead })).toBe(isBack)
  })

  it.each([
    [-1, 0],
    [0, 1],
  ])('when this machine’s clock agrees with only one of them, then that proves nothing (F232)', (first, second) => {
    const time = parseTimestamp(new Date(NOW).toISOString())!
    const later = parseTimestamp(new Date(NOW + 1).toISOString())!
    const sent = (wall: number) => ({ wall, monotonic: 0 })
    const limit = 300_000
    const pair = [
      { time, refresh: 'refresh-0', sent: sent(NOW + (second === 1 ? limit : -limit) + first) },
      { time: later, refresh: 'refresh-1', sent: sent(NOW + 1 + (second === 1 ? limit : -limit) + second) },
    ] as const
    expect(isSetBack(...pair)).toBe(false)
  })

  it.each([
    [
      'one is accepted',
      (serviceClock: ServiceClock, clock: ManualClock) => serviceClock.set(seen(clock, later(clock))),
    ],
    ['nothing', () => undefined],
  ])('when %s happens between them, then only two in a row count', async (what, act) => {
    const { clock, serviceClock } = started()
    expect(serviceClock.judge(seen(clock, now(clock)))).toBe('old')
    act(serviceClock, clock)
    await clock.advance(500)
    expect(serviceClock.judge(seen(clock, now(clock)))).toBe(what === 'nothing' ? 'set-back' : 'old')
  })

  const now = (clock: ManualClock) => parseTimestamp(new Date(clock.wallNow()).toISOString())!
  const later = (clock: ManualClock) => parseTimestamp(new Date(clock.wallNow() + 60_000).toISOString())!
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
  ])('when Date is %s, then the clock uses it or nothing', (_, date, expected) => {
    expect(started({ isSet: false }).at(date)).toBe(expected)
  })
})

describe('given the clocks of this machine', () => {
  it('when a moment is taken, then it has both', async () => {
    const clock = manualClock()
    await clock.advance(5)
    clock.stepWall(7)
    expect(momentOf(clock)).toEqual({ wall: NOW + 12, monotonic: 5 })
  })
})
