import { describe, expect, it } from '@jest/globals'
import type { OpenableStore, StoreReports, TokenRecord } from '../../src/core/token-store.ts'
import { type Clock, memoryStore } from '../../src/index.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'

/** A manager whose first token request is in flight. */
async function renewing(pairs = false, options = {}) {
  const clock = watchedClock()
  const world = manage(new ScriptedSource({ pairs }), options, clock)
  const { answer, open } = held(() => world.source.grant())
  world.source.script.push(answer)
  const waiting = outcome(world.tokens.getAccessToken())
  await settle()
  return { ...world, clock, open, waiting }
}

describe('given a renewal in flight, when the manager is reset', () => {
  it('then its result is dropped, and its waiters get the token of the next renewal (F115)', async () => {
    const { source, tokens, observed, open, waiting } = await renewing()
    await tokens.reset()
    expect(tokens.status()).toMatchObject({ phase: 'empty', renewing: true })
    const after = tokens.getAccessToken()
    await settle()
    expect(source.calls).toHaveLength(1) // one exchange at a time
    open()
    expect(await Promise.all([waiting, after])).toEqual(['access-2', 'access-2'])
    expect(source.calls).toHaveLength(2)
    expect(observed.renewed).toHaveLength(1)
  })

  it('then it overwrites nothing: the refresh token in its response is never presented', async () => {
    const { clock, source, tokens, open, waiting } = await renewing(true)
    await tokens.reset()
    open()
    await waiting
    await clock.advance(45_000)
    expect(source.calls.map((call) => call.refreshToken)).toEqual([undefined, undefined, 'refresh-2'])
  })

  it('then its failure starts no cool-down', async () => {
    const { source, tokens, observed } = manage()
    const { answer, open } = held(failing(400))
    source.script.push(answer)
    const waiting = tokens.getAccessToken()
    await settle()
    await tokens.reset()
    open()
    expect(await waiting).toBe('access-1')
    expect(observed.renewalFailed).toEqual([])
  })

  it('then a pause ends at once', async () => {
    const { source, tokens } = manage()
    source.script.push(failing(503))
    const waiting = tokens.getAccessToken()
    await settle()
    expect(source.calls).toHaveLength(1)
    await tokens.reset()
    expect(await waiting).toBe('access-1')
  })

  it('then nothing is started while no caller waits', async () => {
    const { clock, source, tokens, open } = await renewing()
    const lonely = manage()
    await lonely.tokens.getAccessToken()
    await lonely.tokens.reset()
    expect([lonely.tokens.peekAccessToken(), lonely.clock.pendingTimers, lonely.source.calls.length]).toEqual([
      undefined,
      0,
      1,
    ])
    await tokens.reset()
    await tokens.reset()
    open()
    await settle()
    expect([source.calls.length, clock.holding]).toEqual([2, 0])
  })

  it('then a source that throws in its own reset keeps no caller from a token', async () => {
    const { source, tokens, open, waiting } = await renewing()
    Object.assign(source, {
      reset: () => {
        throw new Error('of its own')
      },
    })
    expect(await outcome(tokens.reset())).toMatchObject({ message: 'of its own' })
    open()
    expect(await waiting).toBe('access-2')
  })

  it('then a refresh in flight has spent its refresh token, even if the store forgets nothing', async () => {
    const inner = memoryStore() as OpenableStore
    const store = {
      ...inner,
      kind: 'test',
      open: (key: string, clock: Clock, reports: StoreReports) => {
        const record = inner.open(key, clock, reports)
        return {
          acquire: (...given: Parameters<TokenRecord['acquire']>) => record.acquire(...given),
          accept: (...given: Parameters<TokenRecord['accept']>) => record.accept(...given),
          release: (...given: Parameters<TokenRecord['release']>) => record.release(...given),
          adopt: (...given: Parameters<TokenRecord['adopt']>) => record.adopt(...given),
          clear: () => Promise.reject(new Error('gone')),
        }
      },
    }
    const { clock, source, tokens } = manage(new ScriptedSource({ pairs: true }), { store })
    await tokens.getAccessToken()
    const late = held(() => source.grant())
    source.script.push(late.answer)
    await clock.advance(45_000)
    await outcome<unknown>(tokens.reset())
    late.open()
    await settle()
    await tokens.renew()
    expect(source.calls.map((call) => call.refreshToken)).toEqual([undefined, 'refresh-1', undefined])
  })

  it('then the gap between forced renewals is forgotten too', async () => {
    const { tokens } = manage()
    await tokens.replaceAccessToken(await tokens.getAccessToken())
    await tokens.reset()
    expect(await tokens.replaceAccessToken(await tokens.getAccessToken())).toBe('access-4')
  })
})

describe('given a renewal in flight and a source that can obtain, when the manager logs out (F208)', () => {
  it.each([false, true])(
    'then its waiters get the token of the next renewal, as after a reset (revoke: %p)',
    async (revokes) => {
      const { clock, source, tokens, open, waiting } = await renewing(true)
      const revoked: unknown[] = []
      const revoke = (given: unknown) => Promise.resolve(void revoked.push(given))
      if (revokes) Object.assign(source, { revoke })
      const ended = tokens.logout()
      await settle()
      expect(source.calls).toHaveLength(1) // one exchange at a time
      open()
      expect(await ended).toEqual(revokes ? { revoked: true } : { revoked: false, reason: 'no-endpoint' })
      await clock.advance(30_000) // the longest wait of a caller
      expect(await waiting).toBe('access-2')
      expect(source.calls.map((call) => call.refreshToken)).toEqual([undefined, undefined])
      expect(revoked).toEqual(revokes ? [{ accessToken: 'access-1', refreshToken: 'refresh-1' }] : [])
      expect(tokens.peekAccessToken()).toBe('access-2')
    },
  )
})

describe('given a manager, when it is closed', () => {
  it('then waiters and later callers are rejected, and the result of an exchange in flight is stored (F116)', async () => {
    const store = memoryStore()
    const clock = manualClock()
    const world = manage(new ScriptedSource(), { store }, clock)
    const { answer, open } = held(() => world.source.grant())
    world.source.script.push(answer)
    const waiting = outcome(world.tokens.getAccessToken())
    await settle()
    let closed = false
    const closing = world.tokens.close().then(() => (closed = true))
    expect(await waiting).toMatchObject({ code: 'ERR_CLOSED', retryable: false })
    await settle()
    expect(closed).toBe(false)
    open()
    await closing
    expect([world.tokens.peekAccessToken(), world.tokens.status().phase, clock.pendingTimers]).toEqual([
      undefined,
      'closed',
      0,
    ])
    const heir = manage(new ScriptedSource(), { store }, clock)
    expect(await heir.tokens.getAccessToken()).toBe('access-1')
    expect(heir.source.calls).toHaveLength(0)
  })

  it('then every method that returns a token rejects, no request is made, and no timer is left (F116)', async () => {
    const { source, tokens, clock } = manage()
    await tokens.getAccessToken()
    expect(clock.pendingTimers).toBe(1) // of the renewal when the token is due
    await tokens.close()
    await tokens.close()
    expect(clock.pendingTimers).toBe(0)
    const asks = [tokens.getAccessToken(), tokens.replaceAccessToken('access-1'), tokens.renew()]
    for (const ask of asks) expect(await outcome<unknown>(ask)).toMatchObject({ code: 'ERR_CLOSED' })
    await tokens.reset()
    expect(source.calls).toHaveLength(1)
  })

  it('then a pause between attempts ends, and no further request is made', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(failing(503))
    const waiting = outcome(tokens.getAccessToken())
    await settle()
    await tokens.close()
    expect(await waiting).toMatchObject({ code: 'ERR_CLOSED' })
    await clock.advance(60_000)
    expect([source.calls.length, clock.pendingTimers]).toEqual([1, 0])
  })

  it('then a renewal that is still acquiring its lease makes no request', async () => {
    const { source, tokens } = manage()
    const waiting = outcome(tokens.getAccessToken())
    await Promise.resolve()
    await tokens.close()
    expect(await waiting).toMatchObject({ code: 'ERR_CLOSED' })
    expect(source.calls).toHaveLength(0)
  })

  it('then an exchange that fails later changes nothing', async () => {
    const { source, tokens, observed } = manage()
    const { answer, open } = held(failing(503))
    source.script.push(answer)
    const waiting = outcome(tokens.getAccessToken())
    await settle()
    const closing = tokens.close()
    open()
    await closing
    await waiting
    expect([observed.retry, observed.renewalFailed]).toEqual([[], []])
  })
})
