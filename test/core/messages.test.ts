import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError } from '../../src/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

const PAIRS = () => new ScriptedSource({ pairs: true })

describe('given callers who get no token, when they read the message', () => {
  it('then it states that their time was up, and what failed in that time', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(failing(503))
    const waiting = outcome(tokens.getAccessToken({ maxWaitMs: 200 }))
    await clock.advance(200)
    const limit = 'No access token was available within the time that this caller can wait (at most renewal.maxWaitMs)'
    const message = `${limit}: it waited for the pause before the next token request (options of retry)`
    expect(await waiting).toMatchObject({ code: 'ERR_WAIT_TIMEOUT', message, cause: { message: 'responded with 503' } })
  })

  it('then each of them has the same message, and retryAt is the time of the next attempt', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(failing(404))
    await outcome(tokens.getAccessToken())
    await clock.advance(3_500)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      message: 'responded with 404',
      retryAt: clock.wallNow() + 1_500,
    })
  })

  it('then it states that another owner failed, and what that owner met (F224)', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = manage(undefined, { store })
    const error = new TokenError('ERR_TOKEN_REQUEST', 'wrong', { outcome: 'rejected', status: 404, serviceCode: '17' })
    source.script.push(() => Promise.reject(error))
    await outcome(tokens.getAccessToken())
    const other = manage(source, { store }, clock)
    expect(await outcome(other.tokens.getAccessToken())).toEqual(
      expect.objectContaining({
        code: 'ERR_TOKEN_REQUEST',
        message: expect.stringMatching(
          /^Another owner .* check its address and parameters \(the service responded with 404\)/,
        ) as unknown,
        status: 404,
        serviceCode: '17',
      }),
    )
    expect(source.calls).toHaveLength(1)
  })

  it('then that of another owner has no status if the request had none', async () => {
    const store = memoryStore()
    const { clock, source, tokens } = manage(undefined, { store, retry: { maxAttempts: 1 } })
    source.script.push(() => Promise.reject(new Error('no network')))
    await outcome(tokens.getAccessToken())
    const error = await outcome(manage(source, { store }, clock).tokens.getAccessToken())
    expect(error).toMatchObject({ code: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    expect(Object.keys(error)).not.toEqual(expect.arrayContaining(['status']))
    expect(Object.keys(error)).not.toEqual(expect.arrayContaining(['serviceCode']))
  })

  it('then it states that the API rejects tokens too fast, or that the service issued the same token again', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(
      () => source.grant(),
      () => source.grant({ accessToken: 'access-1' }),
    )
    await tokens.getAccessToken()
    const again = 'The service issued the rejected access token again'
    expect(await outcome(tokens.replaceAccessToken('access-1'))).toMatchObject({ message: again })
    const tooSoon = 'The API rejects access tokens faster than the manager may replace them'
    expect(await outcome(tokens.replaceAccessToken('access-1'))).toMatchObject({
      message: tooSoon,
      retryAt: clock.wallNow() + 6_000,
    })
  })

  it('F307: then it names the token request that was too slow (F92), and so does the status while the next one hangs', async () => {
    const { clock, source, tokens } = manage(undefined, { retry: { maxAttempts: 1 }, exchangeTimeoutMs: 700 })
    source.script.push(() => new Promise(() => undefined))
    const waiting = outcome(tokens.getAccessToken())
    await clock.advance(700)
    const message =
      'The obtain request of the token source got no complete response within 700 ms: if the service needs longer, raise exchangeTimeoutMs'
    expect(await waiting).toMatchObject({ message: expect.stringContaining(message) })
    const { clock: later, source: hanging, tokens: hung } = manage(PAIRS(), { exchangeTimeoutMs: 700 })
    hanging.script.push(...Array<() => Promise<never>>(4).fill(() => new Promise(() => undefined)))
    const caller = outcome(hung.getAccessToken())
    await later.advance(699)
    expect(hung.status().lastError).toBeUndefined()
    await later.advance(1_000)
    expect(hung.status()).toMatchObject({ renewing: true, lastError: 'ERR_TOKEN_SERVICE_UNAVAILABLE' })
    await later.advance(10_000)
    await caller
  })

  it('F305: then 300 failures of one cause in a cool-down have one message', async () => {
    for (const status of [429, 503, 404, 401]) {
      const { clock, source, tokens } = manage(PAIRS())
      source.script.push(...Array<ReturnType<typeof failing>>(300).fill(failing(status)))
      const waits: Promise<unknown>[] = []
      for (let n = 0; n < 300; n += 1) {
        waits.push(outcome(tokens.getAccessToken()))
        await clock.advance(13)
      }
      await clock.advance(30_000)
      const observed = new Set((await Promise.all(waits)).map((error) => (error as Error).message))
      expect([...observed]).toEqual([`responded with ${status}`])
    }
  })

  it('then it states that the token had expired in transit', async () => {
    const { clock, source, tokens, observed } = manage(new ScriptedSource({ takesMs: 200 }))
    source.script.push(() => source.grant({ accessLifetimeMs: 200 }))
    const waiting = tokens.getAccessToken()
    await clock.advance(200)
    const error = { code: 'ERR_TOKEN_RESPONSE', message: 'The token had expired before it arrived' }
    expect(observed.retry).toMatchObject([{ attempt: 1, delayMs: 1_000, error }])
    await clock.advance(1_200)
    expect(await waiting).toBe('access-2')
  })

  it('then it states that a suspicion stopped everything, and the response of the service', async () => {
    const { clock, source, tokens } = manage(PAIRS(), { onSuspicious: 'stop' })
    await tokens.getAccessToken()
    const details = { outcome: 'rejected', status: 401, serviceCode: '2007' } as const
    source.script.push(() => Promise.reject(new TokenError('ERR_REFRESH_REJECTED', 'no', details)))
    await clock.advance(45_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_SUSPICIOUS_REFRESH_TOKEN',
      message: 'A refresh token was rejected before it expired: the manager stops until reset() or adopt()',
      status: 401,
      serviceCode: '2007',
    })
  })
})

describe('given something unexpected, when the anomaly is read', () => {
  it.each([
    [10_000, 'The wall clock jumped 10000 ms ahead (sleep, or a step)'],
    [-10_000, 'The wall clock jumped 10000 ms back'],
  ])('then a jump of the clock by %i ms has its length and direction', async (byMs, message) => {
    const { clock, tokens, observed } = manage()
    await tokens.getAccessToken()
    clock.stepWall(byMs)
    tokens.peekAccessToken()
    await settle()
    expect(observed.anomaly).toMatchObject([{ kind: 'clock-jumped', message }])
  })

  it.each([
    [
      { refreshToken: undefined },
      "The response to a refresh has no refresh token: only refreshTokens: 'reusable' keeps the old one",
      'obtain',
    ],
    [{ refreshToken: 'refresh-1' }, 'The response to a refresh has the same refresh token again', 'refresh'],
  ])('then a refresh that responds with %j is reported so', async (changes, message, next) => {
    const { clock, source, tokens, observed } = manage(PAIRS())
    await tokens.getAccessToken()
    source.script.push(() => source.grant(changes as { refreshToken: string }))
    await tokens.renew()
    expect(observed.anomaly).toMatchObject([{ kind: 'unexpected-response', message }])
    await clock.advance(2_000)
    await tokens.renew()
    expect([source.kinds, observed.anomaly.length]).toEqual([`obtain refresh ${next}`, 1])
  })

  it('then what a source reports is passed on unchanged', async () => {
    const source = new ScriptedSource()
    const { tokens, observed } = manage(source)
    const obtain = source.obtain.bind(source)
    source.obtain = (context) => {
      context.report?.('unexpected-response', 'an odd answer')
      return obtain(context)
    }
    await tokens.getAccessToken()
    expect(observed.anomaly).toEqual([{ kind: 'unexpected-response', message: 'an odd answer' }])
  })

  it('then a Retry-After above the maximum has both lengths', async () => {
    const { source, tokens, observed } = manage()
    source.script.push(failing(429, { retryAfterMs: 1_000_000 }))
    await outcome(tokens.getAccessToken())
    expect(observed.anomaly).toMatchObject([
      { message: 'Retry-After of 1000000 ms counts as retry.maxRetryAfterMs, 300000 ms' },
    ])
  })
})

describe('given renewals, when their events are read', () => {
  it('then both tokens expire as if they had been issued when they were requested', async () => {
    const { clock, tokens, observed } = manage(new ScriptedSource({ pairs: true, takesMs: 5_000 }))
    const askedAt = clock.wallNow()
    const waiting = tokens.getAccessToken()
    await clock.advance(5_000)
    await waiting
    expect(observed.renewed).toMatchObject([
      { accessExpiresAt: askedAt + 60_000, refreshExpiresAt: askedAt + 3_600_000, durationMs: 5_000 },
    ])
  })

  it('then they have the reason, and the expiry of both tokens', async () => {
    const { clock, source, tokens, observed } = manage(PAIRS(), { renewal: { keepWarm: 'never' } })
    const renewed = (by: string, because: string) => ({
      by,
      because,
      attempts: 1,
      durationMs: 0,
      accessExpiresAt: clock.wallNow() + 60_000,
      refreshExpiresAt: clock.wallNow() + 3_600_000,
    })
    await tokens.getAccessToken()
    const cold = renewed('obtain', 'cold')
    await clock.advance(45_000)
    tokens.peekAccessToken()
    await settle()
    const due = renewed('refresh', 'due')
    await clock.advance(58_000)
    await tokens.getAccessToken()
    const expired = renewed('refresh', 'expired')
    await tokens.replaceAccessToken('access-3')
    const refused = renewed('refresh', 'refused')
    await clock.advance(58_000)
    await tokens.replaceAccessToken('access-4')
    const endedThen = renewed('refresh', 'expired')
    await tokens.renew()
    await settle()
    expect(observed.renewed).toEqual([cold, due, expired, refused, endedThen, renewed('refresh', 'forced')])
    expect(source.calls).toHaveLength(6)
  })

  it('then one without a refresh token has no expiry of it', async () => {
    const { tokens, observed } = manage()
    await tokens.getAccessToken()
    await settle()
    expect(Object.keys(observed.renewed[0]!)).not.toEqual(expect.arrayContaining(['refreshExpiresAt']))
  })
})

describe('given a pause that the service asked for', () => {
  it('when more callers arrive, then only those who can wait longer than the pause wait', async () => {
    const { clock, source, tokens } = manage()
    const gate = held(() => source.grant())
    source.script.push(failing(429, { retryAfterMs: 10_000 }), gate.answer)
    const first = tokens.getAccessToken()
    await settle()
    const longer = tokens.getAccessToken({ maxWaitMs: 10_001 })
    expect(await outcome(tokens.getAccessToken({ maxWaitMs: 10_000 }))).toMatchObject({ code: 'ERR_THROTTLED' })
    await clock.advance(10_000)
    gate.open()
    expect([await first, await longer]).toEqual(['access-1', 'access-1'])
  })
})
