import { describe, expect, it, jest } from '@jest/globals'
import { TokenError } from '../../src/core/errors.ts'
import { WaitingRoom } from '../../src/core/waiting-room.ts'
import { outcome } from '../support/managed.ts'
import { watchedClock } from '../support/watched-clock.ts'

function world(living?: string) {
  const clock = watchedClock()
  const room = new WaitingRoom(
    clock,
    () => living,
    () => new TokenError('ERR_WAIT_TIMEOUT', 'too late'),
  )
  const enter = (ms: number, signal?: AbortSignal, keepMs?: number) => {
    const now = clock.monotonicNow()
    return outcome(room.enter({ limit: now + ms, keepAt: keepMs === undefined ? undefined : now + keepMs, signal }))
  }
  return { clock, room, enter }
}
const late = { code: 'ERR_WAIT_TIMEOUT' }

describe('given callers who wait', () => {
  it('when a token arrives, then all get it and no timer is left', async () => {
    const { clock, room, enter } = world()
    const waits = Promise.all([enter(100), enter(50), enter(200)])
    expect([clock.pendingTimers, clock.holding]).toEqual([1, 1])
    room.resolveAll('token')
    expect(await waits).toEqual(['token', 'token', 'token'])
    expect([room.size, clock.pendingTimers]).toEqual([0, 0])
  })

  it('when limits pass, then each leaves at its own, and there is one timer for all', async () => {
    const { clock, room, enter } = world()
    const [long, short, same] = [enter(100), enter(50), enter(50)]
    expect(clock.pendingTimers).toBe(1)
    await clock.advance(49)
    expect(room.size).toBe(3)
    await clock.advance(1)
    expect([await short, await same]).toMatchObject([late, late])
    expect([room.size, clock.pendingTimers]).toEqual([1, 1])
    await clock.advance(50)
    expect(await long).toMatchObject(late)
    expect(clock.pendingTimers).toBe(0)
  })

  it('when the limit of one passes, then another waits until it may use the old token', async () => {
    const { clock, room, enter } = world('old')
    const [short, keeps] = [enter(50), enter(100, undefined, 70)]
    await clock.advance(69)
    expect(await short).toMatchObject(late)
    expect(room.size).toBe(1)
    await clock.advance(1)
    expect(await keeps).toBe('old')
  })

  it('when a limit is a fraction of a millisecond, then its timer does not spin', async () => {
    const { clock, enter } = world()
    await clock.advance(1 / 3)
    const wait = enter(100.1)
    await clock.advance(101)
    expect(await wait).toMatchObject(late)
    expect(clock.delays).toEqual([101])
  })

  it('when the old token is still valid at the limit, then callers who may use it get it', async () => {
    const { clock, enter } = world('old')
    const [keeps, insists] = [enter(50, undefined, 70), enter(50)]
    await clock.advance(50)
    expect(await keeps).toBe('old')
    expect(await insists).toMatchObject(late)
  })

  it('when the old token is valid at the instant from which callers may use it, then they leave with it', async () => {
    const { clock, room, enter } = world('old')
    const [keeps, insists] = [enter(50, undefined, 20), enter(50)]
    await clock.advance(19)
    expect(room.size).toBe(2)
    await clock.advance(1)
    expect(await keeps).toBe('old')
    expect([room.size, clock.pendingTimers]).toEqual([1, 1])
    room.resolveAll('token')
    expect(await insists).toBe('token')
  })

  it('when the old token has expired by then, then they wait until their limit', async () => {
    const { clock, room, enter } = world()
    const [first, second] = [enter(50, undefined, 20), enter(60, undefined, 20)]
    await clock.advance(49)
    expect(room.size).toBe(2)
    await clock.advance(1)
    expect(await first).toMatchObject(late)
    room.resolveAll('token')
    expect(await second).toBe('token')
  })

  it('when a pause begins, then those who cannot wait that long leave at once', async () => {
    const { clock, room, enter } = world()
    const [short, exact, long] = [enter(99), enter(100), enter(101)]
    room.dismiss(new TokenError('ERR_THROTTLED', 'later'), clock.monotonicNow() + 100)
    expect([await short, await exact]).toMatchObject([{ code: 'ERR_THROTTLED' }, { code: 'ERR_THROTTLED' }])
    room.resolveAll('token')
    expect(await long).toBe('token')
  })
})

describe('given callers who share a signal', () => {
  it('when a thousand wait, then the signal has one listener, and none afterwards (F98)', () => {
    const { room, enter } = world()
    const { signal } = new AbortController()
    const on = jest.spyOn(signal, 'addEventListener')
    const off = jest.spyOn(signal, 'removeEventListener')
    for (let n = 0; n < 1_000; n += 1) void enter(100, signal)
    room.resolveAll('token')
    expect([on.mock.calls.length, off.mock.calls.length]).toEqual([1, 1])
    expect(off.mock.calls[0]).toEqual(on.mock.calls[0])
  })

  it('when it aborts, then they leave with its reason and the others stay', async () => {
    const { clock, room, enter } = world()
    const controller = new AbortController()
    const [gone, goneToo, stays] = [enter(100, controller.signal), enter(100, controller.signal), enter(100)]
    controller.abort('enough')
    expect([await gone, await goneToo, room.size]).toEqual(['enough', 'enough', 1])
    room.resolveAll('token')
    expect(await stays).toBe('token')
    expect(clock.pendingTimers).toBe(0)
  })

  it('when the signal is of a polyfill that passes nothing to its listeners, then the abort reaches its callers alone', async () => {
    const { room, enter } = world()
    const listeners: (() => void)[] = []
    const polyfilled = {
      aborted: false,
      reason: 'gone',
      addEventListener: (_: string, listener: () => void) => listeners.push(listener),
      removeEventListener: () => undefined,
    }
    const [gone, goneToo] = [1, 2].map(() => enter(100, polyfilled as never))
    const stays = enter(100, new AbortController().signal)
    polyfilled.aborted = true
    for (const listener of listeners) listener()
    expect([await gone, await goneToo, room.size]).toEqual(['gone', 'gone', 1])
    room.resolveAll('token')
    expect(await stays).toBe('token')
  })

  it('when one of them has left, then the signal still reaches the other', async () => {
    const { clock, room, enter } = world()
    const controller = new AbortController()
    const [first, second] = [enter(10, controller.signal), enter(100, controller.signal)]
    await clock.advance(10)
    expect(await first).toMatchObject(late)
    controller.abort('enough')
    expect(await second).toBe('enough')
    expect([room.size, clock.pendingTimers]).toEqual([0, 0])
  })
})

describe('given callers who can share their wait', () => {
  const shared = (living?: string) => {
    const { clock, room } = world(living)
    const share = (ms: number, keepMs?: number, signal?: AbortSignal) => {
      const now = clock.monotonicNow()
      return room.share({ limit: now + ms, keepAt: keepMs === undefined ? undefined : now + keepMs, signal })
    }
    return { clock, room, share }
  }

  it('when they arrive at the same time with the same limits, then they wait as one', async () => {
    const { room, share } = shared()
    const [first, second] = [share(100, 50), share(100.9, 50.9)]
    expect([second === first, room.size]).toEqual([true, 1])
    room.resolveAll('token')
    expect(await second).toBe('token')
  })

  it.each<[string, [number, number?, AbortSignal?]]>([
    ['another limit', [101, 50]],
    ['another instant from which it may use the old token', [100, 51]],
    ['no such instant', [100]],
    ['a signal', [100, 50, new AbortController().signal]],
  ])('when a caller has %s, then it waits separately', async (_, waits) => {
    const { room, share } = shared()
    const [first, other] = [share(100, 50), share(...waits)]
    expect([other === first, room.size]).toEqual([false, 2])
    room.resolveAll('token')
    expect(await Promise.all([first, other])).toEqual(['token', 'token'])
  })

  it('when earlier callers have left, then they wait for the next token', async () => {
    const { room, share } = shared()
    const first = share(100)
    room.resolveAll('first')
    const second = share(100)
    room.resolveAll('second')
    expect(await Promise.all([first, second])).toEqual(['first', 'second'])
  })
})
