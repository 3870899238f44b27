import { describe, expect, it } from '@jest/globals'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { type AdoptedGrant, memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import { failing, failingWith, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle, watchedClock } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

/** Two managers share a store and the token that the first one obtained. The token is due, and the first one renews it. */
async function dueForBoth(
  random = 0,
  options: Partial<TokenManagerOptions> = {},
  answer?: ScriptedSource['script'][number],
) {
  const store = memoryStore()
  const source = new ScriptedSource({ pairs: true })
  const first = manage(source, { store, renewal: { keepWarm: 'never' }, ...options })
  const renewal = { keepWarm: 'never', jitter: 0 } as const
  const second = manage(source, { store, renewal, random: () => random, ...options }, first.clock)
  await first.tokens.getAccessToken()
  await second.tokens.getAccessToken()
  await first.clock.advance(45_000)
  const gate = held(answer ?? (() => source.grant()))
  source.script.push(gate.answer)
  first.tokens.peekAccessToken()
  await settle()
  second.tokens.peekAccessToken()
  await settle()
  return { first, second, source, gate, clock: first.clock }
}

describe('given a token that another owner renews', () => {
  it('when ours is still valid, then the store is not polled until ours is about to expire', async () => {
    const { first, second, gate, clock } = await dueForBoth()
    gate.open()
    await clock.advance(11_999)
    expect(second.tokens.status()).toMatchObject({ renewing: true, counts: { adoptions: 1 } })
    await clock.advance(1)
    expect(second.tokens.status()).toMatchObject({
      renewing: false,
      counts: { obtains: 0, refreshes: 0, adoptions: 2 },
    })
    expect(second.tokens.peekAccessToken()).toBe(first.tokens.peekAccessToken())
  })

  it.each([
    [0, 250],
    [0.5, 187.5],
  ])(
    'when a caller arrives who cannot use ours, then the store is polled at once, and again soon (jitter %d: %d ms)',
    async (random, pollMs) => {
      const { second, source, gate, clock } = await dueForBoth(random)
      const waiting = second.tokens.replaceAccessToken('access-1')
      await settle()
      gate.open()
      await clock.advance(pollMs - 1)
      expect(second.tokens.status()).toMatchObject({ renewing: true })
      await clock.advance(1)
      expect(second.tokens.status()).toMatchObject({ renewing: false })
      expect(await waiting).toBe('access-2')
      expect(source.kinds).toBe('obtain refresh')
    },
  )

  it('when ours is reset, then it does not adopt the renewed token, whose renewal began before (P11)', async () => {
    const { first, second, source, gate, clock } = await dueForBoth()
    await second.tokens.reset()
    gate.open()
    await settle()
    expect(first.tokens.peekAccessToken()).toBe('access-2')
    expect(await second.tokens.getAccessToken()).toBe('access-3')
    expect(source.kinds).toBe('obtain refresh obtain')
    await clock.advance(45_000)
    first.tokens.peekAccessToken()
    await settle()
    expect(first.tokens.peekAccessToken()).toBe('access-3')
  })

  it('when the other is closed, and its refresh token rejected, then a stop applies to ours too', async () => {
    const { first, second, gate, clock } = await dueForBoth(0, { onSuspicious: 'stop' }, failing(401))
    const closed = first.tokens.close()
    gate.open()
    await closed
    await settle()
    expect(first.observed.suspicious).toMatchObject([{ action: 'stop' }])
    await clock.advance(15_000)
    expect(await outcome(second.tokens.getAccessToken())).toMatchObject({ code: 'ERR_SUSPICIOUS_REFRESH_TOKEN' })
  })

  it('when the other is closed, and its refresh token rejected, then ours does not wait for it', async () => {
    const { first, second, source, gate } = await dueForBoth(0, {}, failing(401))
    const closed = first.tokens.close()
    gate.open()
    await closed
    await settle()
    second.tokens.peekAccessToken()
    const renewed = second.tokens.renew()
    await settle()
    expect(source.kinds).toBe('obtain refresh obtain')
    await renewed
  })

  it.each([20_000, 120_000])(
    'when the other is closed, and the service asks for a pause of %d ms, then ours waits for it',
    async (retryAfterMs) => {
      const { first, second, source, gate, clock } = await dueForBoth(0, {}, failing(429, { retryAfterMs }))
      const closed = first.tokens.close()
      gate.open()
      await closed
      const renewed = outcome(second.tokens.renew({ maxWaitMs: 300_000 }))
      await clock.advance(retryAfterMs - 1)
      expect(source.kinds).toBe('obtain refresh')
      await clock.advance(5_000)
      await renewed
      await second.tokens.getAccessToken()
      expect(source.kinds).toBe('obtain refresh refresh')
    },
  )

  it('when the other is closed, and its response is lost, then ours obtains at once', async () => {
    const lost = failingWith('ERR_TOKEN_SERVICE_UNAVAILABLE', 'unknown')
    const { first, second, source, gate } = await dueForBoth(0, {}, lost)
    const closed = first.tokens.close()
    gate.open()
    await closed
    const renewed = second.tokens.renew()
    await settle()
    expect(source.kinds).toBe('obtain refresh obtain')
    await renewed
  })

  it('when ours is closed, then it no longer polls', async () => {
    const { second, gate, clock } = await dueForBoth()
    await second.tokens.close()
    gate.open()
    await clock.advance(60_000)
    expect(second.tokens.status()).toMatchObject({ phase: 'closed', renewing: false, counts: { adoptions: 1 } })
  })
})

it('given a renewal that failed at another owner, when ours is next, then it makes one request, and its cool-down is the second one', async () => {
  const store = memoryStore()
  const { clock, source, tokens } = manage(undefined, { store })
  const second = manage(source, { store }, clock)
  source.script.push(failing(404), failing(503))
  await outcome(tokens.getAccessToken())
  await clock.advance(5_000)
  expect(await outcome(second.tokens.getAccessToken())).toMatchObject({
    status: 503,
    retryAt: clock.wallNow() + 10_000,
  })
  expect(source.calls).toHaveLength(2)
})

it('given a manager that is closed when its lease is granted, then the lease is released, and another owner continues at once', async () => {
  const inner = memoryStore() as OpenableStore
  let granted = (): void => undefined
  const asked = new Promise<void>((resolve) => (granted = resolve))
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  const slow: OpenableStore = {
    ...inner,
    kind: 'test',
    open(...given) {
      const record = inner.open(...given)
      return {
        acquireForLogout: (...what) => record.acquireForLogout(...what),
        accept: (...what) => record.accept(...what),
        release: (...what) => record.release(...what),
        adopt: (...what) => record.adopt(...what),
        clear: (...what) => record.clear(...what),
        async acquire(...what) {
          const answer = await record.acquire(...what)
          granted()
          await gate
          return answer
        },
      }
    },
  }
  const clock = watchedClock()
  const { source, tokens } = manage(undefined, { store: slow }, clock)
  const waiting = outcome(tokens.getAccessToken())
  await asked
  const closed = tokens.close()
  open()
  await closed
  expect(await waiting).toMatchObject({ code: 'ERR_CLOSED' })
  expect(await manage(source, { store: inner }, clock).tokens.getAccessToken()).toBe('access-1')
  expect(clock.delays.filter((ms) => ms === 250)).toEqual([])
})

describe('given a refresh token of a login that is rejected because the other owner has a newer token set', () => {
  /** @param maxAttempts Requests that a renewal may make. */
  async function refusedBeside(maxAttempts: number, newer: Partial<AdoptedGrant>) {
    const store = memoryStore()
    const source = Object.assign(new ScriptedSource({ pairs: true }), { login: person })
    const { clock, tokens, observed } = manage(source, { store, retry: { maxAttempts } })
    const there = manage(source, { store }, clock)
    await tokens.adopt(source.grant({ subject: 'ann' }))
    const gate = held(failing(401))
    source.script.push(gate.answer)
    const renewed = outcome(tokens.renew())
    await settle()
    await there.tokens.adopt({ ...source.grant({ subject: 'ann' }), ...newer })
    gate.open()
    return { clock, source, tokens, observed, ended: await renewed }
  }

  it('when the renewal may make another request, then it presents the newer refresh token', async () => {
    const { source, tokens, ended } = await refusedBeside(2, {})
    expect(ended).toBeUndefined()
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['refresh-1', 'refresh-2'])
    expect(tokens.peekAccessToken()).toBe('access-3')
  })

  it('when this was the last request that the renewal may make, then it adopts the newer token set (F274)', async () => {
    const { source, tokens, observed, ended } = await refusedBeside(1, {})
    expect(ended).toBeUndefined()
    expect(source.calls).toHaveLength(1)
    expect(tokens.peekAccessToken()).toBe('access-2')
    expect([observed.retry, observed.suspicious, observed.renewalFailed]).toEqual([[], [], []])
    expect(observed.renewed.at(-1)).toMatchObject({ by: 'adopted', because: 'forced' })
  })

  it('when the newer token set has no valid access token, then callers get the error of the service (F274)', async () => {
    const { clock, source, tokens, observed, ended } = await refusedBeside(1, { accessToken: undefined })
    expect(ended).toMatchObject({ code: 'ERR_REFRESH_REJECTED', status: 401, retryAt: expect.any(Number) })
    expect([observed.retry, observed.suspicious]).toEqual([[], []])
    expect(tokens.status()).toMatchObject({ login: 'present', lastError: 'ERR_REFRESH_REJECTED' })
    await clock.advance(60_000)
    expect(await tokens.getAccessToken()).toBe('access-3')
    expect(source.calls.at(-1)).toMatchObject({ refreshToken: 'refresh-2' })
  })
})
