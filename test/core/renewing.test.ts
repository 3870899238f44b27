import { describe, expect, it } from '@jest/globals'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

describe('given tokens of 60 s', () => {
  it('200 calls spread evenly over 40 s, tokens of 60 s', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource(), { random: dice(1).random })
    for (let call = 0; call < 200; call += 1) {
      await tokens.getAccessToken()
      await clock.advance(200)
    }
    expect(source.calls).toHaveLength(1)
  })

  it('when one is due, then a peek returns it and renews in the background (F20)', async () => {
    const { clock, source, tokens, observed } = manage(new ScriptedSource(), { renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(44_999)
    expect([tokens.peekAccessToken(), source.calls.length]).toEqual(['access-1', 1])
    await clock.advance(1)
    expect([tokens.peekAccessToken(), tokens.peekAccessToken()]).toEqual(['access-1', 'access-1'])
    await settle()
    expect([tokens.peekAccessToken(), source.calls.length]).toEqual(['access-2', 2])
    expect(observed.renewed.map((event) => event.because)).toEqual(['cold', 'due'])
  })

  it('when jitter is drawn, then renewal is earlier by that much', async () => {
    const { clock, tokens } = manage(new ScriptedSource(), { random: () => 0.5, renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(60_000 - 16_501)
    expect(tokens.status().phase).toBe('fresh')
    await clock.advance(1)
    expect(tokens.status().phase).toBe('due')
  })

  it('when one is used, then a timer renews it without a caller; an unused one lapses', async () => {
    const { clock, source, tokens } = manage()
    await tokens.getAccessToken()
    await clock.advance(44_999)
    expect(source.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.calls).toHaveLength(2) // the caller who waited for the token counts as its first use
    await clock.advance(3_600_000)
    expect([source.calls.length, tokens.status().phase, clock.pendingTimers]).toEqual([2, 'expired', 0])
  })

  it.each([
    ['always', 80],
    ['never', 1],
  ] as const)('when keepWarm is %s, then an idle hour costs %i requests', async (keepWarm, calls) => {
    const { clock, source, tokens } = manage(new ScriptedSource(), { renewal: { keepWarm } })
    await tokens.getAccessToken()
    await clock.advance(3_600_000 - 1)
    expect(source.calls).toHaveLength(calls)
  })

  it('when the exchange is slow, then the lifetime counts from the time of the request (F19)', async () => {
    const { clock, tokens } = manage(new ScriptedSource({ takesMs: 5_000 }))
    const waiting = tokens.getAccessToken()
    await clock.advance(5_000)
    await waiting
    expect(tokens.status().accessExpiresAt).toBe(clock.wallNow() + 55_000)
  })
})

it('given windows of fractional milliseconds, when a token is due, then its timer does not spin', async () => {
  const clock = watchedClock()
  const { source, tokens } = manage(new ScriptedSource({ lifetimeMs: 60_000.1 }), { random: () => 1 / 3 }, clock)
  await tokens.getAccessToken()
  for (let n = 0; n < 300; n += 1) {
    tokens.peekAccessToken()
    await clock.advance(1_000.7)
  }
  expect(source.calls.length).toBeLessThan(9)
  expect(clock.delays.filter((ms) => !Number.isInteger(ms))).toEqual([])
})

describe('given a 30-day token (F6)', () => {
  const MONTH_MS = 30 * 24 * 3_600_000

  it('a 30-day token, one second idle', async () => {
    const clock = watchedClock()
    const { source, tokens } = manage(new ScriptedSource({ lifetimeMs: MONTH_MS }), {}, clock)
    await tokens.getAccessToken()
    await clock.advance(1_000)
    expect(source.calls).toHaveLength(1)
    expect(Math.max(...clock.delays)).toBeLessThan(2 ** 31)
  })

  it('when it is obtained, then it counts as a token of 24 hours', async () => {
    const { clock, tokens } = manage(new ScriptedSource({ lifetimeMs: MONTH_MS }))
    await tokens.getAccessToken()
    expect(tokens.status().accessExpiresAt).toBe(clock.wallNow() + 24 * 3_600_000)
  })
})

describe('given tokens that live less than a request takes', () => {
  it('when a hundred callers wait for one of 500 ms, then all get it, and requests stay a second apart (F18)', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ lifetimeMs: 500 }), {
      renewal: { keepWarm: 'always' },
    })
    const got = await Promise.all(Array.from({ length: 100 }, () => tokens.getAccessToken()))
    expect(new Set(got)).toEqual(new Set(['access-1']))
    await clock.advance(10_000)
    const gaps = source.calls.slice(1).map((call, n) => call.at - source.calls[n]!.at)
    expect(gaps.length).toBeGreaterThanOrEqual(9)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1_000)
  })

  it('when each has expired before it is requested, then requests stay a second apart', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ lifetimeMs: 500 }), {
      renewal: { keepWarm: 'never' },
    })
    for (let call = 0; call < 10; call += 1) {
      void tokens.getAccessToken()
      await clock.advance(500)
    }
    expect(source.calls.map(({ at }) => at - source.calls[0]!.at)).toEqual([0, 1_000, 2_000, 3_000, 4_000, 5_000])
  })

  it('when each has expired on arrival, then requests stay a second apart, and end in a cool-down', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ lifetimeMs: 500, takesMs: 500 }))
    const waiting = expect(tokens.getAccessToken()).rejects.toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
    await clock.advance(5_000)
    await waiting
    expect(source.calls.map((call) => call.at)).toEqual([0, 1_500, 3_000, 4_500])
    expect([tokens.peekAccessToken(), tokens.status().phase]).toEqual([undefined, 'cooling-down'])
  })
})

describe('given a clock that jumps', () => {
  const holding = async () => {
    const world = manage(new ScriptedSource(), { renewal: { keepWarm: 'never' } })
    await world.tokens.getAccessToken()
    await world.clock.advance(10_000)
    return world
  }

  it.each([
    ['an hour ahead', 3_600_000, 2],
    ['two hours back', -7_200_000, 1],
    ['a second ahead', 1_000, 1],
  ])(
    'when the wall clock jumps %s (%i ms), then there are %i requests until it is due (F10, F11)',
    async (_, byMs, calls) => {
      const { clock, source, tokens, observed } = await holding()
      clock.stepWall(byMs)
      for (let second = 0; second < 34; second += 1) {
        await tokens.getAccessToken()
        await clock.advance(1_000)
      }
      expect(source.calls).toHaveLength(calls)
      expect(observed.anomaly.map((event) => event.kind)).toEqual(Math.abs(byMs) > 2_000 ? ['clock-jumped'] : [])
    },
  )

  it('when the wall clock is set back by an hour, then the token expires when it would have expired (F11)', async () => {
    const { clock, tokens } = await holding()
    clock.stepWall(-3_600_000)
    await clock.advance(46_999)
    expect(tokens.status().phase).toBe('due')
    await clock.advance(1)
    expect([tokens.status().phase, tokens.peekAccessToken()]).toEqual(['expired', undefined])
    expect(await tokens.getAccessToken()).toBe('access-2')
  })

  it.each([
    [46_999, 'access-1'],
    [47_000, undefined],
    [3_600_000, undefined],
  ])('when the machine slept for %i ms, then a caller that does not wait gets %s (F12)', async (ms, served) => {
    const { clock, source, tokens } = manage()
    await tokens.getAccessToken()
    await clock.advance(10_000)
    clock.stepWall(ms) // the monotonic clock stood still, and so did the timer of the token
    expect([tokens.peekAccessToken(), clock.pendingTimers]).toEqual([served, 1])
    expect(await tokens.getAccessToken()).toBe(served ?? 'access-2')
    await settle()
    expect(source.calls).toHaveLength(2)
  })

  /** The machine sleeps during a pause, or during the cool-down after four requests. */
  it.each([
    ['a retry', 1, 250],
    ['a cool-down', 4, 5_000],
  ])(
    'when the machine sleeps before %s, then a hundred callers after it cost one request (F21)',
    async (_, failures, ms) => {
      const source = new ScriptedSource({ pairs: true })
      const { clock, tokens } = manage(source)
      await tokens.getAccessToken()
      source.script.push(...Array.from({ length: failures }, () => failing(503)))
      await clock.advance(45_000 + (failures === 4 ? 1_750 : 0))
      expect(source.calls).toHaveLength(1 + failures)
      clock.stepWall(7_200_000)
      const ask = () => Array.from({ length: 100 }, () => outcome(tokens.getAccessToken()))
      const awake = ask()
      await clock.advance(ms - 1)
      expect(source.calls).toHaveLength(1 + failures)
      await clock.advance(1)
      const late = await Promise.all(ask())
      expect(new Set(late)).toEqual(new Set(['access-2']))
      // In a pause, callers who can wait do so. In a cool-down, all callers are rejected at once with its end.
      const early = await Promise.all(awake)
      if (failures === 1) expect(new Set(early)).toEqual(new Set(['access-2']))
      else expect(early[0]).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', retryable: true })
      await clock.advance(40_000)
      // After a 5xx, the manager presents the refresh token again only while the access token is valid.
      expect(source.calls.slice(1 + failures).map(({ kind }) => kind)).toEqual(['obtain'])
    },
  )

  it('when the clock is set back during an exchange, then the token is valid anyway', async () => {
    const clock = manualClock()
    const source = new ScriptedSource()
    const { tokens } = manage(source, {}, clock)
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const waiting = tokens.getAccessToken()
    await settle()
    clock.stepWall(-3_600_000)
    late.open()
    expect(await waiting).toBe('access-1')
    expect(tokens.status()).toMatchObject({ phase: 'fresh', accessExpiresAt: clock.wallNow() + 60_000 })
  })

  it('when the process sleeps with an unused token, then waking costs nothing', async () => {
    const { clock, source, tokens } = manage()
    await tokens.getAccessToken()
    clock.stepWall(3_600_000)
    await clock.advance(100_000) // the timer of the token fires, too late
    expect(source.calls).toHaveLength(1)
  })
})
