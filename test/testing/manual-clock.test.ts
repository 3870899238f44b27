import timers from 'node:timers/promises'
import { describe, expect, it, jest } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { manualClock } from '../../tools/testing/index.ts'

const START = Date.UTC(2026, 0, 1)

describe('given a clock that is moved by hand', () => {
  it('when it is not moved, then time stands still', () => {
    const clock = manualClock()
    expect([clock.wallNow(), clock.monotonicNow()]).toEqual([START, 0])
    expect(manualClock({ wallNow: 7 }).wallNow()).toBe(7)
  })

  it.each([NaN, Infinity, '5'])('when it is set or stepped by %p, then that is rejected', (ms) => {
    expect(() => manualClock({ wallNow: ms as number })).toThrow('wallNow must be a finite number')
    const clock = manualClock()
    expect(() => clock.stepWall(ms as number)).toThrow('ms must be a finite number')
    expect(clock.wallNow()).toBe(START)
  })

  it('when an option is misspelled, then the error names it', () =>
    expect(() => manualClock({ wallnow: 7 } as object)).toThrow("there is no 'wallnow'"))

  it('when it is advanced, then both clocks move', async () => {
    const clock = manualClock()
    await clock.advance(1_500)
    expect([clock.wallNow(), clock.monotonicNow()]).toEqual([START + 1_500, 1_500])
  })

  it('when it is advanced, then timers run at their time and in their order, including those set by other timers', async () => {
    const clock = manualClock()
    const ran: [string, number][] = []
    const run = (name: string) => () => void ran.push([name, clock.monotonicNow()])
    clock.setTimer(run('late'), 2_000)
    clock.setTimer(() => {
      run('early')()
      clock.setTimer(run('nested'), 500)
    }, 1_000)
    clock.setTimer(run('beyond'), 2_001)
    const cancel = clock.setTimer(run('cancelled'), 1)
    cancel()
    clock.setTimer(run('at once'), -5)
    expect(clock.pendingTimers).toBe(4)
    await clock.advance(2_000)
    expect(ran).toEqual([
      ['at once', 0],
      ['early', 1_000],
      ['nested', 1_500],
      ['late', 2_000],
    ])
    expect(clock.pendingTimers).toBe(1)
  })

  it('when timers are set for one instant, then they run in the order in which they were set', async () => {
    const clock = manualClock()
    const ran: number[] = []
    const cancels = Array.from({ length: 9 }, (_, n) => clock.setTimer(() => void ran.push(n), n < 3 ? 20 : 10))
    cancels[4]!()
    await clock.advance(10)
    cancels[5]!()
    await clock.advance(10)
    expect(ran).toEqual([3, 5, 6, 7, 8, 0, 1, 2])
  })

  it.each([0, 1e-6])(
    'when a timer sets itself again after %d ms, then the advance ends, and its error says so',
    async (delayMs) => {
      const clock = manualClock()
      const again = () => void clock.setTimer(again, delayMs)
      clock.setTimer(again, 50)
      await expect(clock.advance(100)).rejects.toThrow(
        /^advance\(\) stopped at 50(\.\d+)? ms: 10000 timers ran one after the other, and time did not pass/,
      )
    },
  )

  it('when a thousand timers of one instant set a timer each, and a chain passes a millisecond, then all run', async () => {
    const clock = manualClock()
    let runs = 0
    for (let n = 0; n < 1_000; n += 1) clock.setTimer(() => void clock.setTimer(() => (runs += 1), 0), 5)
    const tick = () => {
      runs += 1
      if (runs < 12_000) clock.setTimer(tick, 1)
    }
    clock.setTimer(tick, 10)
    await clock.advance(12_000)
    expect([runs, clock.pendingTimers]).toEqual([12_000, 0])
  })

  it('when instants are fractional, then a timer runs at its exact instant', async () => {
    const clock = manualClock()
    const seen: number[] = []
    await clock.advance(0.1)
    clock.setTimer(() => seen.push(clock.monotonicNow()), 0.2)
    clock.setTimer(() => seen.push(clock.monotonicNow()), 0.7)
    await clock.advance(1)
    expect(seen).toEqual([0.1 + 0.2, 0.1 + 0.7])
  })

  it('when it is advanced, then all consequences of a timer have happened before the next one', async () => {
    const clock = manualClock()
    const seen: string[] = []
    clock.setTimer(() => void hashed(20).then(() => seen.push('hashed')), 1)
    clock.setTimer(() => seen.push('next timer'), 2)
    await clock.advance(2)
    expect(seen).toEqual(['hashed', 'next timer'])
  })

  it('when an operation of WebCrypto began before it is advanced, then the first timer runs after it', async () => {
    const clock = manualClock()
    const seen: string[] = []
    void hashed(20).then(() => seen.push('hashed'))
    clock.setTimer(() => seen.push('timer'), 0)
    await clock.advance(0)
    expect(seen).toEqual(['hashed', 'timer'])
  })

  it('when a restored spy has removed the count, then the next clock counts again', async () => {
    // A spy that is older than the first clock has this effect when it is restored.
    Reflect.deleteProperty(crypto.subtle, 'digest')
    const clock = manualClock()
    const seen: string[] = []
    void hashed(20).then(() => seen.push('hashed'))
    await clock.advance(0)
    expect(seen).toEqual(['hashed'])
  })

  it('when an operation of WebCrypto fails, then its caller gets the error, and the clock does not wait for it', async () => {
    const clock = manualClock()
    const refused = crypto.subtle.digest('no such hash', new Uint8Array(1))
    const detached = crypto.subtle.digest.call({} as typeof crypto.subtle, 'SHA-256', new Uint8Array(1))
    await expect(refused).rejects.toThrow('Unrecognized')
    await expect(detached).rejects.toThrow('must be of type SubtleCrypto')
    await clock.advance(1)
    expect(clock.monotonicNow()).toBe(1)
  })

  it('when the timers of Node are mocked, as by node:test, then it still moves', async () => {
    const clock = manualClock()
    const mocked = jest.spyOn(timers, 'setImmediate').mockRejectedValue(new Error('a mock was called'))
    const moved = clock.advance(1)
    await moved.finally(() => mocked.mockRestore())
    expect(clock.monotonicNow()).toBe(1)
  })

  it('when the wall clock is stepped, then no timer runs', async () => {
    const clock = manualClock()
    let runs = 0
    clock.setTimer(() => (runs += 1), 1_000)
    clock.stepWall(-3_600_000)
    clock.stepWall(7_200_000)
    expect([clock.wallNow(), clock.monotonicNow(), runs]).toEqual([START + 3_600_000, 0, 0])
  })

  it.each([-1, NaN])('when it is advanced by %d ms, then that is rejected', async (ms) => {
    await expect(manualClock().advance(ms)).rejects.toThrow(RangeError)
  })

  it('when a manager uses it, then its token is renewed without a wait', async () => {
    const clock = manualClock()
    let issued = 0
    const source = {
      id: 'own',
      obtain: async () => ({ accessToken: `token-${(issued += 1)}`, accessLifetimeMs: 60_000 }),
    }
    const tokens = createTokenManager({ source, clock, random: () => 0 })
    expect(await tokens.getAccessToken()).toBe('token-1')
    await clock.advance(45_000)
    expect(tokens.peekAccessToken()).toBe('token-2')
    await tokens.close()
  })
})

async function hashed(times: number): Promise<void> {
  let bytes = new Uint8Array(100_000)
  for (let time = 0; time < times; time += 1) bytes = new Uint8Array(await crypto.subtle.digest('SHA-512', bytes))
}
