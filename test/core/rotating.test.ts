import { describe, expect, it } from '@jest/globals'
import { type ExchangeOutcome, TokenError } from '../../src/index.ts'
import { failing, failingWith, held, manage, outcome, ScriptedSource, FATES } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

/** A manager with a token set whose access token is due. */
async function holdingPair(settings: Partial<ScriptedSource> = {}) {
  const world = manage(new ScriptedSource({ pairs: true, ...settings }), { renewal: { keepWarm: 'never' } })
  await world.tokens.getAccessToken()
  await world.clock.advance(45_000)
  return world
}
const refused = (status: number) => () => {
  throw new TokenError('ERR_REFRESH_REJECTED', `responded with ${status}`, {
    status,
    outcome: 'rejected',
    refreshToken: FATES[status],
  })
}
const presented = (source: ScriptedSource) => source.calls.map((call) => call.refreshToken ?? 'credentials')

describe('given a token set', () => {
  it('when it is due, then each refresh token returns the next token set, and is presented once', async () => {
    const { clock, source, tokens, observed } = await holdingPair()
    for (let n = 0; n < 3; n += 1) {
      tokens.peekAccessToken()
      await clock.advance(45_000)
    }
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'refresh-2', 'refresh-3'])
    expect(observed.renewed.at(-1)).toMatchObject({ by: 'refresh', because: 'due', attempts: 1 })
    expect(tokens.status().refreshExpiresAt).toBe(clock.wallNow() - 45_000 + 3_600_000)
    expect(tokens.status().counts).toMatchObject({ obtains: 1, refreshes: 3 })
    expect(observed.anomaly).toEqual([])
  })

  it('when its refresh token has expired, then it is not presented', async () => {
    const { clock, source, tokens } = await holdingPair()
    await clock.advance(3_600_000 - 45_000)
    await tokens.getAccessToken()
    expect(presented(source)).toEqual(['credentials', 'credentials'])
  })

  it('when its refresh token is about to expire, then it is presented', async () => {
    const { clock, source, tokens } = await holdingPair()
    await clock.advance(3_600_000 - 45_000 - 1)
    await tokens.getAccessToken()
    expect(presented(source)).toEqual(['credentials', 'refresh-1'])
  })

  it.each([
    [100, 'credentials'],
    [500, 'credentials'],
    [501, 'refresh-1'],
  ])(
    'when its refresh token expires %i ms into a pause of 500, then %s is used after the pause (F72)',
    async (endsMs, next) => {
      const { clock, source, tokens } = await holdingPair()
      await clock.advance(3_600_000 - 45_000 - endsMs)
      source.script.push(failing(429))
      const waiting = tokens.getAccessToken()
      await clock.advance(500)
      await waiting
      expect(presented(source)).toEqual(['credentials', 'refresh-1', next])
    },
  )

  it('when its refresh token expires first, then its access token is used, and the next renewal obtains (F71)', async () => {
    const source = new ScriptedSource({ pairs: true })
    source.script.push(() => source.grant({ refreshLifetimeMs: 30_000 }))
    const { clock, tokens, observed } = manage(source, { renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(45_000)
    expect(tokens.peekAccessToken()).toBe('access-1')
    await settle()
    expect(tokens.peekAccessToken()).toBe('access-2')
    expect([presented(source), observed.suspicious]).toEqual([['credentials', 'credentials'], []])
  })

  it('when a response has no refresh token, then the next renewal obtains (F68)', async () => {
    const { clock, source, tokens, observed } = await holdingPair()
    source.script.push(() => ({ accessToken: 'lonely', accessLifetimeMs: 60_000 }))
    tokens.peekAccessToken()
    await clock.advance(45_000)
    expect(tokens.peekAccessToken()).toBe('lonely')
    await settle()
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'credentials'])
    expect(observed.anomaly.map((event) => event.kind)).toEqual(['unexpected-response'])
  })

  it('when a response has the same refresh token, then it is used, and reported as unexpected (F69)', async () => {
    const { clock, source, tokens, observed } = await holdingPair()
    source.script.push(() => source.grant({ refreshToken: 'refresh-1' }))
    tokens.peekAccessToken()
    await clock.advance(45_000)
    tokens.peekAccessToken()
    await settle()
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'refresh-1'])
    expect(observed.anomaly.map((event) => event.kind)).toEqual(['unexpected-response'])
  })

  it('when it has no expiry, then it is presented as long as it works', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ pairs: true }))
    source.script.push(() => ({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'endless' }))
    await tokens.getAccessToken()
    await clock.advance(30 * 24 * 3_600_000)
    await tokens.getAccessToken()
    expect(presented(source)).toContain('endless')
    expect(tokens.status().refreshExpiresAt).toBeDefined()
  })
})

describe('given a refresh that fails', () => {
  it.each<[string, ScriptedSource['script'][number], string]>([
    ['401', refused(401), 'credentials'],
    ['400', refused(400), 'credentials'],
    ['403', refused(403), 'credentials'],
    ['no outcome', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown'), 'credentials'],
    ['an unusable grant', () => ({ accessToken: '', accessLifetimeMs: 1 }), 'credentials'],
    ['429', failing(429), 'refresh-1'],
    ['nothing sent', failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'not-sent'), 'refresh-1'],
    ['503', failing(503), 'refresh-1'],
  ])('when it ends in %s, then the next request presents what the table states (F55, F58)', async (_, answer, next) => {
    const { clock, source, tokens, observed } = await holdingPair()
    source.script.push(answer)
    tokens.peekAccessToken()
    await clock.advance(1_000)
    expect(presented(source).slice(1)).toEqual(['refresh-1', next])
    expect(observed.retry).toMatchObject([{ delayMs: next === 'credentials' ? 0 : expect.any(Number) }])
  })

  it('when it ends in 403 and the obtain fails, then the refresh token was not spent and is presented again (F58)', async () => {
    const { clock, source, tokens } = await holdingPair()
    source.script.push(refused(403), failing(400))
    tokens.peekAccessToken()
    await clock.advance(60_000)
    await tokens.getAccessToken()
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'credentials', 'refresh-1'])
  })

  it('when it always ends in 403 and obtains fail for a while, then the credentials are tried again', async () => {
    const { clock, source, tokens } = await holdingPair()
    source.refresh = (refreshToken) => {
      source.calls.push({ kind: 'refresh', at: clock.monotonicNow(), refreshToken, signal: AbortSignal.abort() })
      return Promise.reject(new TokenError('ERR_REFRESH_REJECTED', '403', { refreshToken: 'kept' }))
    }
    source.script.push(failing(500), failing(500), failing(500))
    for (let second = 0; second < 120 && tokens.status().counts.obtains < 5; second += 1) {
      void outcome(tokens.getAccessToken())
      await clock.advance(1_000)
    }
    expect(presented(source).filter((what) => what === 'credentials')).toHaveLength(5)
  })

  it('when a probe’s refresh token is rejected, then the credentials do not wait long', async () => {
    const source = new ScriptedSource({ pairs: true })
    const { clock, tokens } = manage(source, { retry: { maxAttempts: 1 }, renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(60_000)
    source.script.push(refused(403))
    expect(await outcome(tokens.getAccessToken())).toMatchObject({ retryAt: clock.wallNow() + 1_000 })
    await clock.advance(1_000)
    await tokens.getAccessToken()
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'credentials'])
  })

  it('when it ends in 404, then there is no retry, and the refresh token is kept', async () => {
    const { clock, source, tokens } = await holdingPair()
    source.script.push(failing(404))
    tokens.peekAccessToken()
    await clock.advance(4_999)
    expect(presented(source)).toEqual(['credentials', 'refresh-1'])
    await clock.advance(1)
    tokens.peekAccessToken()
    await settle()
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'refresh-1'])
  })

  it('refresh returns 503, 503, 200', async () => {
    const { clock, source, tokens } = await holdingPair()
    source.script.push(failing(503), failing(503))
    for (let n = 0; n < 20; n += 1) {
      expect(await tokens.getAccessToken()).toMatch(/^access-/)
      await clock.advance(100)
    }
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'refresh-1', 'refresh-1'])
    expect(tokens.status().counts.suspicions).toBe(0)
  })

  it('when it met three 5xx, then it is discarded and the credentials are used', async () => {
    const { clock, source, tokens } = await holdingPair()
    source.script.push(failing(503), failing(503), failing(503))
    tokens.peekAccessToken()
    await clock.advance(3_000)
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'refresh-1', 'refresh-1', 'credentials'])
  })

  it('when it met a 5xx and the access token has expired, then it is discarded and the credentials are used', async () => {
    const { clock, source, tokens } = await holdingPair()
    await clock.advance(15_000)
    source.script.push(failing(503))
    const waiting = tokens.getAccessToken()
    await clock.advance(250)
    expect(await waiting).toBe('access-2')
    expect(presented(source)).toEqual(['credentials', 'refresh-1', 'credentials'])
  })

  it.each<ExchangeOutcome>(['unknown', 'rejected'])(
    'when it ended %s and the obtain fails too, then the token stays retired',
    async (ended) => {
      const { clock, source, tokens } = await holdingPair()
      const status = ended === 'rejected' ? 401 : undefined
      source.script.push(
        () => {
          throw new TokenError('ERR_REFRESH_REJECTED', 'refused', {
            outcome: ended,
            status,
            refreshToken: FATES[status ?? 0],
          })
        },
        ...Array<ScriptedSource['script'][number]>(9).fill(failing(503)),
      )
      tokens.peekAccessToken()
      for (let n = 0; n < 60; n += 1) {
        await clock.advance(1_000)
        void outcome(tokens.getAccessToken())
      }
      expect(presented(source).filter((what) => what === 'refresh-1')).toHaveLength(1)
      expect(source.calls.length).toBeGreaterThan(5)
    },
  )

  it('when the first request of a renewal is its only one, then the rejection reaches the caller, and the next renewal obtains', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource({ pairs: true }), { retry: { maxAttempts: 1 } })
    await tokens.getAccessToken()
    await clock.advance(60_000) // the timer has renewed the token set
    source.script.push(refused(401))
    await clock.advance(60_000)
    expect(await outcome(tokens.renew())).toMatchObject({ code: 'ERR_REFRESH_REJECTED', retryable: true })
    await clock.advance(5_000)
    await tokens.getAccessToken()
    expect(source.calls.at(-1)!.kind).toBe('obtain')
  })

  it('when a source loses its refresh function, then it obtains', async () => {
    const { source, tokens } = await holdingPair()
    delete source.refresh
    tokens.peekAccessToken()
    await settle()
    expect(source.kinds).toBe('obtain obtain')
  })
})

it('given a refresh in flight, when all callers leave, then its token set is kept and used (F95)', async () => {
  const { clock, source, tokens } = await holdingPair()
  const late = held(() => source.grant())
  source.script.push(late.answer)
  await clock.advance(12_000)
  const controller = new AbortController()
  const waiting = outcome(tokens.getAccessToken({ signal: controller.signal }))
  await settle()
  controller.abort()
  await waiting
  late.open()
  await settle()
  expect(tokens.peekAccessToken()).toBe('access-2')
  expect(presented(source)).toEqual(['credentials', 'refresh-1'])
})
