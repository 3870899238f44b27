import { describe, expect, it } from '@jest/globals'
import type { Clock } from '../../src/index.ts'
import { Steps } from '../../src/store/steps.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const never = () => new Promise<never>(() => undefined)
const LIMIT_MS = 1_000

/** A clock whose process may be busy: `lag` moves the time during a turn of the event loop. */
function start() {
  const manual = manualClock()
  let lagMs = 0
  const clock: Clock = {
    wallNow: () => manual.wallNow() + lagMs,
    monotonicNow: () => manual.monotonicNow() + lagMs,
    setTimer: (...given) => manual.setTimer(...given),
  }
  const lag = (ms: number) => void (lagMs += ms)
  let failedAt: number | undefined
  const hang = (steps = new Steps()) =>
    steps.run(never, { clock, ms: LIMIT_MS }).catch(() => (failedAt ??= clock.monotonicNow()))
  /** Completes steps of another store: one in each turn of the event loop. */
  const answerOthers = async (times: number, lagEachMs: number, afterMs = 0) => {
    const others = new Steps()
    let answered = 0
    while (answered < times && failedAt === undefined) {
      await others.run(
        () =>
          new Promise<void>((resolve) => {
            manual.setTimer(
              () => {
                lag(lagEachMs)
                resolve()
              },
              answered === 0 ? afterMs : 0,
            )
          }),
        { clock, ms: 60_000 },
      )
      answered += 1
    }
    return answered
  }
  /** A step hangs until its limit. From then on, steps of others complete. @returns how many of them before it failed */
  const reachLimit = async (times: number, lagEachMs: number) => {
    void hang()
    const before = answerOthers(1, 0)
    await manual.advance(LIMIT_MS - 1)
    await before
    const others = answerOthers(times, lagEachMs, 1)
    await manual.advance(1)
    return others
  }
  return { manual, clock, lag, hang, reachLimit, failedAt: () => failedAt }
}

describe('given a step without a response until its limit', () => {
  it('when the process is not busy, then the step fails at the limit, although steps of other stores complete', async () => {
    const { reachLimit, failedAt } = start()
    expect(await reachLimit(50, 0)).toBeLessThan(10)
    expect(failedAt()).toBe(LIMIT_MS)
  })

  it('when the process is busy and reads no responses, then the step fails at the first check', async () => {
    const { manual, clock, lag, hang, failedAt } = start()
    void hang()
    // The timers between two turns of the event loop.
    for (let n = 0; n < 5; n += 1) clock.setTimer(() => lag(20), LIMIT_MS)
    await manual.advance(LIMIT_MS)
    expect(failedAt()).toBe(LIMIT_MS)
  })

  it('when the process is busy and reads responses all the time, then the step fails ten seconds later', async () => {
    const { reachLimit, failedAt } = start()
    await reachLimit(200, 100)
    expect(failedAt()).toBeGreaterThanOrEqual(LIMIT_MS + 10_000)
    expect(failedAt()).toBeLessThan(LIMIT_MS + 11_000)
  })
})

describe('given a step that was sent before others, and has no response', () => {
  it.each([
    ['completes after it was sent', true, 2],
    ['had completed', false, 4],
  ])('when one of the others %s: %s, then %d steps may be in flight', async (_, isAnswered, most) => {
    const { manual, clock, hang } = start()
    const steps = new Steps()
    void hang(steps)
    if (isAnswered) await steps.run(async () => undefined, { clock, ms: LIMIT_MS })
    await manual.advance(LIMIT_MS)
    let sent = 1
    for (let n = 0; n < 30; n += 1)
      steps
        .run(
          () => {
            sent += 1
            return never()
          },
          { clock, ms: LIMIT_MS },
        )
        .catch(() => undefined)
    await settle()
    expect(sent).toBe(most)
  })
})

/** A register that responds to each step after `takesMs`. */
function paced(capacity?: number) {
  const clock = manualClock()
  const steps = new Steps(capacity)
  const world = {
    clock,
    steps,
    takesMs: 10,
    inFlight: 0,
    sent: [] as string[],
    answered: 0,
    most: 0,
    broken: 0,
    failed: 0,
  }
  const ask = (name = '', isUrgent = false) => {
    const answer = () => {
      world.sent.push(name)
      world.inFlight += 1
      world.most = Math.max(world.most, world.inFlight)
      if (world.inFlight > Math.max(4, world.answered)) world.broken += 1
      return new Promise<void>((resolve) =>
        clock.setTimer(() => {
          world.inFlight -= 1
          world.answered += 1
          resolve()
        }, world.takesMs),
      )
    }
    steps.run(answer, { clock, ms: LIMIT_MS, isUrgent }).catch(() => (world.failed += 1))
  }
  return Object.assign(world, { ask })
}

describe('given more steps than a store sends at once (F295, F296)', () => {
  it('when responses are in time, then more are sent, and never more than have completed before, up to fifty', async () => {
    const world = paced()
    for (let n = 0; n < 3_000; n += 1) world.ask()
    await settle()
    expect(world.inFlight).toBe(4)
    await world.clock.advance(40)
    expect(world.most).toBeGreaterThan(4)
    await world.clock.advance(3_000)
    expect(world).toMatchObject({ broken: 0, most: 50, answered: 3_000, failed: 0 })
  })

  it.each([
    [500, 5],
    [501, 4],
  ])('when each response takes %d of 1000 ms, then %d are in flight later', async (takesMs, most) => {
    const world = Object.assign(paced(), { takesMs })
    for (let n = 0; n < 12; n += 1) world.ask()
    await world.clock.advance(3 * takesMs - 1)
    expect(world.most).toBe(most)
  })

  it('when responses become slow, then fewer are sent, before any step fails', async () => {
    const world = paced()
    for (let n = 0; n < 1_000; n += 1) world.ask()
    await world.clock.advance(200)
    const before = world.most
    world.takesMs = 751
    await world.clock.advance(10 * 751)
    expect(world.inFlight).toBeLessThan(before)
    expect(world.failed).toBe(0)
  })

  it('when the client states how many it runs at once, then no more are sent', async () => {
    const world = paced(3)
    for (let n = 0; n < 100; n += 1) world.ask()
    await world.clock.advance(1_000)
    expect(world).toMatchObject({ most: 3, answered: 100 })
  })

  it('when some steps complete what others began, then these are sent first', async () => {
    const world = paced(1)
    for (const name of ['a', 'b', 'c']) world.ask(name)
    world.ask('urgent', true)
    await world.clock.advance(100)
    expect(world.sent).toEqual(['a', 'urgent', 'b', 'c'])
  })
})

describe('given a step that has passed its limit (F295)', () => {
  /** One step in four has no response, the others complete all the time. */
  const late = async (capacity: number) => {
    const world = paced(capacity)
    let answer: () => void = () => undefined
    const first = () => new Promise<void>((resolve) => (answer = resolve))
    world.steps.run(first, { clock: world.clock, ms: LIMIT_MS }).catch(() => (world.failed += 1))
    await settle()
    const keepBusy = async (ms: number) => {
      world.most = 0
      for (let n = 0; n < 20; n += 1) world.ask()
      await world.clock.advance(ms)
      return world.most
    }
    return { world, keepBusy, answer: () => answer() }
  }

  it('when the register works again, then half as many are sent, and the step keeps its slot for five seconds', async () => {
    const { world, keepBusy } = await late(4)
    expect(await keepBusy(LIMIT_MS)).toBe(3)
    expect(world.failed).toBe(1)
    // Two slots, and one of them is taken. The limit grows again, and the step still has its slot.
    expect(await keepBusy(2_000)).toBe(3)
    await world.clock.advance(1_999)
    expect(await keepBusy(0)).toBe(3)
    await world.clock.advance(1_000)
    expect(await keepBusy(100)).toBe(4)
  })

  it('when its response arrives then, then its slot is free', async () => {
    const { world, keepBusy, answer } = await late(4)
    await keepBusy(LIMIT_MS)
    await keepBusy(1_000)
    answer()
    await settle()
    expect(await keepBusy(100)).toBe(4)
    expect(world.failed).toBe(1)
  })
})

describe('given a step that passes its limit, while no other completes', () => {
  const silent = async () => {
    const world = paced(1)
    let answer: () => void = () => undefined
    const first = () => new Promise<void>((resolve) => (answer = resolve))
    world.steps.run(first, { clock: world.clock, ms: LIMIT_MS }).catch(() => undefined)
    for (let n = 0; n < 100; n += 1) world.ask()
    await world.clock.advance(2 * LIMIT_MS - 1)
    return { world, answer: () => answer() }
  }

  it('when it completes within one more limit, then the steps that wait for a slot are sent (F238)', async () => {
    const { world, answer } = await silent()
    answer()
    await world.clock.advance(2_000)
    expect(world).toMatchObject({ failed: 0, answered: 100 })
  })

  it('when it does not, then they all fail at once, and so does the next one', async () => {
    const { world } = await silent()
    expect(world.failed).toBe(0)
    await world.clock.advance(1)
    expect(world.failed).toBe(100)
    world.ask()
    await settle()
    expect(world.failed).toBe(101)
  })
})
