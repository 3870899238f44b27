import { describe, expect, it } from '@jest/globals'
import { getEventListeners } from 'node:events'
import { setDeadline, withinLimit } from '../../src/core/deadline.ts'

/** A clock whose timers fire only when a test runs them. */
class TurnClock {
  now = 0
  readonly #timers = new Set<() => void>()
  readonly wallNow = () => this.now
  readonly monotonicNow = () => this.now

  setTimer(callback: () => void): () => void {
    this.#timers.add(callback)
    return () => void this.#timers.delete(callback)
  }

  /** Runs the timers that are set now, as one turn of the event loop does. */
  turn(): void {
    for (const callback of [...this.#timers]) {
      this.#timers.delete(callback)
      callback()
    }
  }
}

describe('given a deadline', () => {
  it.each([
    [1_000, 1],
    [1_001, 3],
  ])('when its timer of 1000 ms fires after %i ms, then it passes in turn %i (F176)', (firesAt, turns) => {
    const clock = new TurnClock()
    let passed = 0
    setDeadline(clock, 1_000, () => (passed += 1))
    clock.now = firesAt
    for (let turn = 1; turn < turns; turn += 1) clock.turn()
    expect(passed).toBe(0)
    clock.turn()
    expect(passed).toBe(1)
  })

  it.each([0, 1, 2])('when it is cancelled after %i late turns, then it never passes (F176)', (turns) => {
    const clock = new TurnClock()
    const cancel = setDeadline(clock, 1_000, () => expect('passed').toBe('cancelled'))
    clock.now = 5_000
    for (let turn = 0; turn < turns; turn += 1) clock.turn()
    cancel()
    for (let turn = 0; turn < 4; turn += 1) clock.turn()
    expect(clock.now).toBe(5_000)
  })
})

describe('given a wait with a limit and a signal', () => {
  it('when its work is done, then no listener is left on the signal', async () => {
    const { signal } = new AbortController()
    const atLimit = () => new Error('too late')
    const waiting = withinLimit(Promise.resolve('done'), { clock: new TurnClock(), ms: 1_000, signal, atLimit })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    expect(await waiting).toBe('done')
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })
})
