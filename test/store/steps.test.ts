import { describe, expect, it } from '@jest/globals'
import type { Clock } from '../../src/index.ts'
import { Steps } from '../../src/store/steps.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const never = () => new Promise<never>(() => undefined)
const LIMIT_MS = 1_000

/** A clock whose process may be busy: `lag` moves the time while a turn of the loop lasts. */
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
  /** Answers steps of another store: one in each turn of the loop. */
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
  /** A step hangs until its limit, and from then on steps of others are answered. @returns how many of them before it failed */
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

describe('given a step without an answer until its limit', () => {
  it('when the process is not busy, then it fails there, although steps of other stores are answered', async () => {
    const { reachLimit, failedAt } = start()
    expect(await reachLimit(50, 0)).toBeLessThan(10)
    expect(failedAt()).toBe(LIMIT_MS)
  })

  it('when the process is busy and reads no answers, then it fails at the first look', async () => {
    const { manual, clock, lag, hang, failedAt } = start()
    void hang()
    // The timers that come between two turns of the loop.
    for (let n = 0; n < 5; n += 1) clock.setTimer(() => lag(20), LIMIT_MS)
    await manual.advance(LIMIT_MS)
    expect(failedAt()).toBe(LIMIT_MS)
  })

  it('when the process is busy and reads answers all the time, then it fails ten seconds later', async () => {
    const { reachLimit, failedAt } = start()
    await reachLimit(200, 100)
    expect(failedAt()).toBeGreaterThanOrEqual(LIMIT_MS + 10_000)
    expect(failedAt()).toBeLessThan(LIMIT_MS + 11_000)
  })
})

describe('given a step that was sent before others, and has no answer', () => {
  it.each([
    ['is answered after it was sent', true, 25],
    ['was answered', false, 4],
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
