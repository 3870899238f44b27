import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError } from '../../src/index.ts'
import { failing, failingWith, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

const script = (...answers: ScriptedSource['script']) => {
  const source = new ScriptedSource()
  source.script.push(...answers)
  return source
}
/** A source may throw anything. */
const throwing = (reason: unknown) => (): never => {
  throw reason as Error
}
const times = <Value>(count: number, value: Value): Value[] => Array<Value>(count).fill(value)

describe('given a token service that fails', () => {
  it('when it recovers within the attempts, then the caller waits and gets its token', async () => {
    const { clock, source, tokens, observed } = manage(script(failing(503), failing(502), failing(500)))
    const waiting = tokens.getAccessToken()
    const pauses = []
    for (const ms of [250, 500, 1_000]) {
      await clock.advance(ms - 1)
      pauses.push(source.calls.length)
      await clock.advance(1)
      pauses.push(source.calls.length)
    }
    expect(await waiting).toBe('access-1')
    expect(pauses).toEqual([1, 2, 2, 3, 3, 4])
    expect(observed.retry).toMatchObject([
      { attempt: 1, delayMs: 250, error: { status: 503 } },
      { attempt: 2, delayMs: 500, error: { status: 502 } },
      { attempt: 3, delayMs: 1_000, error: { status: 500 } },
    ])
    expect(observed.renewed).toMatchObject([{ by: 'obtain', because: 'cold', attempts: 4, durationMs: 1_750 }])
    expect(tokens.status().counts).toMatchObject({ obtains: 4, failures: 3 })
  })

  it('token service down, ten calls one after the other, no token', async () => {
    const { clock, source, tokens } = manage(script(...times(99, failing(503))))
    const errors = []
    for (let call = 0; call < 10; call += 1) {
      const waiting = outcome(tokens.getAccessToken())
      if (call === 0) await clock.advance(2_000)
      errors.push(await waiting)
      await clock.advance(100)
    }
    expect(source.calls.length).toBeLessThanOrEqual(4)
    for (const error of errors)
      expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', status: 503, retryable: true })
    const retryAts = new Set(errors.map((error) => (error as { retryAt: number }).retryAt))
    expect([...retryAts]).toEqual([tokens.status().nextAttemptAt])
  })

  it('when renewals fail, then the cool-downs are 5, 10, 20, 20 s, each followed by one probe', async () => {
    const { clock, source, tokens, observed } = manage(script(...times(99, failing(503))))
    const ask = async () => {
      const waiting = outcome(tokens.getAccessToken())
      await clock.advance(1_750)
      return waiting
    }
    await ask()
    for (const [coolDownMs, calls] of [
      [5_000, 5],
      [10_000, 6],
      [20_000, 7],
      [20_000, 8],
    ] as const) {
      // A probe fails without a pause: its cool-down began when `ask` was called, 1 750 ms ago.
      await clock.advance(coolDownMs - 1 - (calls > 5 ? 1_750 : 0))
      await outcome(tokens.getAccessToken())
      expect(source.calls).toHaveLength(calls - 1)
      await clock.advance(1)
      await ask()
      expect(source.calls).toHaveLength(calls)
    }
    expect(observed.renewalFailed).toHaveLength(5)
  })

  it('when a probe succeeds, then the next renewal has all its attempts again', async () => {
    const { clock, source, tokens } = manage(script(...times(4, failing(503))))
    const failed = outcome(tokens.getAccessToken())
    await clock.advance(6_750)
    await failed
    expect(await tokens.getAccessToken()).toBe('access-1')
    expect(tokens.status()).not.toHaveProperty('lastError')
    source.script.push(failing(503))
    await clock.advance(60_000)
    expect(source.calls).toHaveLength(7)
  })

  it('when it fails while a token is valid, then no caller notices, and a timer tries again', async () => {
    const { clock, source, tokens, observed } = manage(script(() => source.grant(), ...times(4, failing(503))))
    await tokens.getAccessToken()
    let delayed = 0
    for (let second = 0; second < 120; second += 1) {
      if (tokens.peekAccessToken() === undefined) delayed += 1
      await clock.advance(1_000)
    }
    expect([delayed, observed.renewalFailed.length]).toEqual([0, 1])
  })

  it('when no caller waits for a renewal that fails, then there is an event, and no unhandled rejection (F120)', async () => {
    const { clock, tokens, observed } = manage(
      script(() => ({ accessToken: 'a', accessLifetimeMs: 60_000 }), ...times(9, failing(400))),
    )
    await tokens.getAccessToken()
    await clock.advance(45_000)
    expect(observed.renewalFailed).toMatchObject([
      { error: { code: 'ERR_CREDENTIALS_REJECTED' }, nextAttemptAt: clock.wallNow() + 60_000 },
    ])
    expect(tokens.status()).toMatchObject({ phase: 'due', lastError: 'ERR_CREDENTIALS_REJECTED' })
  })

  it('when maxAttempts is 1, then there is one attempt', async () => {
    const { source, tokens } = manage(script(failing(503)), { retry: { maxAttempts: 1 } })
    await outcome(tokens.getAccessToken())
    expect(source.calls).toHaveLength(1)
  })
})

describe('given credentials that are rejected', () => {
  it('wrong secret under 1 000 requests (F51)', async () => {
    const clock = manualClock()
    const { source, tokens } = manage(script(...times(99, failing(400))), {}, clock)
    for (let request = 0; request < 1_000; request += 1) {
      expect(await outcome(tokens.getAccessToken())).toMatchObject({
        code: 'ERR_CREDENTIALS_REJECTED',
        retryable: false,
      })
      await clock.advance(180) // 180 s in all
    }
    expect(source.calls.map((call) => call.at)).toEqual([0, 60_120, 120_240])
  })

  it('when they are corrected, then reset ends the cool-down (F51)', async () => {
    const { source, tokens } = manage(script(failing(400)))
    await outcome(tokens.getAccessToken())
    expect(tokens.status().phase).toBe('cooling-down')
    await tokens.reset()
    expect(tokens.status()).toMatchObject({ phase: 'empty' })
    expect(await tokens.getAccessToken()).toBe('access-1')
    expect(source.calls).toHaveLength(2)
  })

  it.each([404, 400])(
    'when the response is %i, then there is no retry, and renew() fails at once in the cool-down',
    async (status) => {
      const { source, tokens } = manage(script(failing(status)))
      const error = await outcome(tokens.renew())
      expect(await outcome(tokens.renew())).toMatchObject({ code: (error as { code: string }).code })
      expect(source.calls).toHaveLength(1)
    },
  )
})

describe('given a cool-down, when renew() is called', () => {
  it('and the service was down, then one request is made, which all other callers share (F186)', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(...Array.from({ length: 4 }, () => failing(503)))
    const first = outcome(tokens.getAccessToken())
    await clock.advance(4_000)
    await first
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    const late = held(() => source.grant())
    source.script.push(late.answer)
    const [renewed, asked] = [tokens.renew(), tokens.getAccessToken()]
    await settle()
    late.open()
    await renewed
    expect([await asked, source.calls.length]).toEqual(['access-1', 5])
  })

  it('and the service is still down, then one request is made, and the cool-down starts again', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(...Array.from({ length: 5 }, () => failing(503)))
    const first = outcome(tokens.getAccessToken())
    await clock.advance(4_000)
    await first
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    expect(tokens.status().nextAttemptAt).toBe(clock.wallNow() + 10_000)
    expect(source.calls).toHaveLength(5)
  })

  it('and another owner of the store has failed, then its cool-down is ended too', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = manage(new ScriptedSource(), { store })
    source.script.push(...Array.from({ length: 4 }, () => failing(503)))
    const first = outcome(tokens.getAccessToken())
    await clock.advance(4_000)
    await first
    const other = manage(new ScriptedSource(), { store }, clock)
    expect(await outcome(other.tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    await other.tokens.renew()
    expect([other.tokens.peekAccessToken(), other.source.calls.length]).toEqual(['access-1', 1])
  })

  it.each<[string, Parameters<typeof failing>]>([
    ['the service asked for it', [503, { retryAfterMs: 60_000 }]],
    ['there were too many requests', [429, { retryAfterMs: 60_000 }]],
    ['the credentials were rejected', [400]],
  ])('and %s, then no request is made', async (_, answer) => {
    const { source, tokens } = manage()
    source.script.push(failing(...answer))
    await outcome(tokens.getAccessToken())
    expect(await outcome(tokens.renew())).toHaveProperty('retryAt')
    expect(source.calls).toHaveLength(1)
  })
})

describe('given responses with a wrong signature', () => {
  it('when there are two in one renewal, then there is no third request (F83)', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(...Array.from({ length: 4 }, () => failingWith('ERR_SIGNATURE', 'unknown')))
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(4_000)
    expect(await waiting).toMatchObject({ code: 'ERR_SIGNATURE' })
    expect(source.calls).toHaveLength(2)
  })
})

describe('given renewals of a single request', () => {
  it.each([
    ['refused', failingWith('ERR_REFRESH_REJECTED', 'rejected'), 1_000],
    ['lost', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown'), 5_000],
  ])('when a refresh is %s, then the credentials are used after a pause', async (_, answer, pauseMs) => {
    const source = new ScriptedSource({ pairs: true })
    const { clock, tokens } = manage(source, { retry: { maxAttempts: 1 }, renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(45_000)
    source.script.push(answer)
    await outcome(tokens.renew())
    expect(tokens.status().nextAttemptAt).toBe(clock.wallNow() + pauseMs)
    await clock.advance(pauseMs)
    await tokens.renew()
    expect(source.kinds).toBe('obtain refresh obtain')
  })
})

describe('given Retry-After', () => {
  it('when it is shorter than some callers can wait, then those wait, and the others fail at once (P7)', async () => {
    const { clock, source, tokens } = manage(script(failing(429, { retryAfterMs: 10_000 })))
    const [long, short] = [tokens.getAccessToken(), outcome(tokens.getAccessToken({ maxWaitMs: 10_000 }))]
    await settle()
    expect(await short).toMatchObject({ code: 'ERR_THROTTLED', status: 429, retryAt: clock.wallNow() + 10_000 })
    expect(await outcome(tokens.getAccessToken({ maxWaitMs: 9_000 }))).toMatchObject({ code: 'ERR_THROTTLED' })
    expect(tokens.status()).toMatchObject({ renewing: true, nextAttemptAt: clock.wallNow() + 10_000 })
    await clock.advance(9_999)
    expect(source.calls).toHaveLength(1)
    await clock.advance(1)
    expect(await long).toBe('access-1')
    expect(await tokens.getAccessToken({ maxWaitMs: 0 })).toBe('access-1')
  })

  it.each([
    [120_000, 120_000, []],
    [300_000, 300_000, []],
    [1e12, 300_000, ['retry-after-clamped']],
  ])(
    'when it is %i ms, then callers fail at once, and no request is made for %i ms, then one (P7)',
    async (retryAfterMs, quietMs, kinds) => {
      const { clock, source, tokens, observed } = manage(script(failing(429, { retryAfterMs })))
      const retryAt = clock.wallNow() + quietMs
      expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_THROTTLED', retryAt })
      await clock.advance(quietMs - 1)
      expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_THROTTLED', retryAt })
      expect(source.calls).toHaveLength(1)
      await clock.advance(1)
      expect(await tokens.getAccessToken()).toBe('access-1')
      expect(source.calls).toHaveLength(2)
      expect(observed.anomaly.map((event) => event.kind)).toEqual(kinds)
    },
  )

  it('when the response is neither 429 nor 5xx, then it does not count', async () => {
    const { clock, tokens } = manage(script(failing(404, { retryAfterMs: 200_000 })))
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ retryAt: clock.wallNow() + 5_000 })
  })

  it('when ten thousand callers arrive during the cool-down, then they share it: no request, no timer', async () => {
    const { clock, source, tokens } = manage(script(failing(429, { retryAfterMs: 60_000 })))
    await outcome(tokens.getAccessToken())
    const errors = await Promise.all(Array.from({ length: 10_000 }, () => outcome(tokens.getAccessToken())))
    expect(new Set(errors.map((error) => (error as { code: string }).code))).toEqual(new Set(['ERR_THROTTLED']))
    expect([source.calls.length, clock.pendingTimers]).toEqual([1, 0])
  })
})

describe('given an exchange that does not end', () => {
  it('when the deadline passes, then its signal is aborted, and the attempt is of unknown outcome', async () => {
    const hang = () => new Promise<never>(() => undefined)
    const { clock, source, tokens, observed } = manage(script(hang), { exchangeTimeoutMs: 2_000 })
    const waiting = tokens.getAccessToken()
    await clock.advance(1_999)
    expect(source.calls[0]!.signal.aborted).toBe(false)
    await clock.advance(1)
    expect(source.calls[0]!.signal.aborted).toBe(true)
    expect(observed.retry).toMatchObject([{ error: { code: 'ERR_TOKEN_SERVICE_UNAVAILABLE', outcome: 'unknown' } }])
    await clock.advance(250)
    expect(await waiting).toBe('access-1')
  })
})

it('given a random function that throws, when a token arrives, then its waiters are rejected and not left waiting', async () => {
  const { tokens } = manage(new ScriptedSource(), {
    random: () => {
      throw new Error('no luck')
    },
  })
  expect(await outcome(tokens.getAccessToken())).toBeInstanceOf(TokenError)
  expect(tokens.status().renewing).toBe(false)
})

describe('given a custom source that fails in its own way', () => {
  it.each([
    ['an error', throwing(new Error('boom'))],
    ['a string', throwing('boom')],
    ['nothing', throwing(undefined)],
    ['a TokenError of unknown outcome', failingWith('ERR_TOKEN_RESPONSE', 'unknown')],
  ])('when it rejects with %s, then it is retried as unknown', async (_, answer) => {
    const { clock, tokens } = manage(script(answer))
    const waiting = tokens.getAccessToken()
    await clock.advance(250)
    expect(await waiting).toBe('access-1')
  })

  it('when it throws an error with a request, then no event, error or status shows that request', async () => {
    const failure = Object.assign(new Error('Request failed'), {
      config: { data: 'the-secret' },
      code: 'ERR_BAD_REQUEST',
    })
    const { tokens } = manage(
      script(() => Promise.reject(failure)),
      { retry: { maxAttempts: 1 } },
    )
    const error = await outcome(tokens.getAccessToken())
    expect(error).toMatchObject({ cause: { name: 'Error', code: 'ERR_BAD_REQUEST' } })
    expect((error as { cause: object }).cause).not.toHaveProperty('config')
  })

  it('when it returns an unusable grant, then that counts as an unusable response', async () => {
    const { tokens } = manage(
      script(() => ({ accessToken: 'line\nbreak', accessLifetimeMs: 1 })),
      { retry: { maxAttempts: 1 } },
    )
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_TOKEN_RESPONSE' })
  })
})
