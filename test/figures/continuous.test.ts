import { describe, expect, it } from '@jest/globals'
import { manage, ScriptedSource } from '../support/managed.ts'

const MINUTES = 15
const CALL_EVERY_MS = 100

describe.each([
  ['the least jitter', () => 0],
  ['the most jitter', () => 1 - Number.EPSILON],
])('given tokens of 60 s that take 2 s to arrive, and traffic that never stops (%s)', (_, random) => {
  it('when it continues, then only the first call waits, for 1.33 to 1.5 token requests a minute (P3)', async () => {
    const source = new ScriptedSource({ pairs: true, takesMs: 2_000 })
    const { clock, tokens } = manage(source, { random })
    const first = tokens.getAccessToken()
    await clock.advance(2_000)
    await first
    let delayed = 0
    for (let ms = 0; ms < MINUTES * 60_000; ms += CALL_EVERY_MS) {
      if (tokens.peekAccessToken() === undefined) delayed += 1
      await clock.advance(CALL_EVERY_MS)
    }
    const perMinute = (source.calls.length - 1) / MINUTES
    expect(delayed).toBe(0)
    expect(perMinute).toBeGreaterThanOrEqual(1.33)
    expect(perMinute).toBeLessThanOrEqual(1.5)
  })
})
