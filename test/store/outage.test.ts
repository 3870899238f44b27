import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions } from '../../src/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

/** A register that can be unreachable. */
class Register extends MemoryRegister {
  isAway = true
  isReadOnly = false
  /** Called for each write before its response arrives. */
  beforeAnswer: (() => void) | undefined

  override read(key: string) {
    return this.isAway ? Promise.reject(new Error('away')) : super.read(key)
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>) {
    if (this.isReadOnly) throw new Error('READONLY')
    const replaced = await super.replace(...given)
    this.beforeAnswer?.()
    return replaced
  }
}

function start(options: Partial<TokenManagerOptions> = {}, clock = manualClock()) {
  const register = new Register(clock)
  const source = new ScriptedSource({ pairs: true })
  return { register, ...manage(source, { store: sharedStore(register), random: () => 0.5, ...options }, clock) }
}

describe('given an outage of the shared store, in which every process obtains for itself', () => {
  it('when fifty processes need a token at once, then their token requests are spread over two seconds', async () => {
    const clock = manualClock()
    const fleet = Array.from({ length: 50 }, (_, index) => start({ random: () => index / 50 }, clock))
    const served = Promise.all(fleet.map(({ tokens }) => tokens.getAccessToken()))
    await settle()
    for (let step = 0; step < 20; step += 1) await clock.advance(100)
    await served
    const calledAt = fleet.map(({ source }) => source.calls[0]!.at).sort((one, other) => one - other)
    expect(calledAt.map((at) => at - calledAt[0]!)).toEqual(fleet.map((_, index) => index * 40))
  })

  it.each([
    [12_000, 1_000],
    [11_999, 0],
  ])('when a caller can wait %d ms, then the token request is sent after %d ms', async (maxWaitMs, afterMs) => {
    const { tokens, source, clock } = start({ exchangeTimeoutMs: 10_000 })
    const asked = tokens.getAccessToken({ maxWaitMs })
    await settle()
    if (afterMs > 0) {
      await clock.advance(afterMs - 1)
      expect(source.calls).toEqual([])
      await clock.advance(1)
    }
    await asked
    expect(source.calls).toHaveLength(1)
  })

  it('when another caller arrives, then the token request is sent at once only if that caller cannot wait', async () => {
    const { tokens, source } = start()
    const patient = [tokens.getAccessToken(), tokens.getAccessToken()]
    await settle()
    void tokens.getAccessToken().catch(() => undefined)
    await settle()
    expect(source.calls).toEqual([])
    expect(await tokens.getAccessToken({ maxWaitMs: 300 })).toBe('access-1')
    expect(await Promise.all(patient)).toEqual(['access-1', 'access-1'])
  })

  it('when a caller who cannot wait is already waiting as the manager is reset, then the token request is sent at once', async () => {
    const { tokens, source, clock } = start()
    const asked = outcome(tokens.getAccessToken({ maxWaitMs: 900 }))
    await tokens.reset().catch(() => undefined)
    await clock.advance(100)
    const calls = source.calls.length
    await clock.advance(2_000)
    expect([await asked, calls]).toEqual(['access-1', 1])
  })

  it("when the manager is reset and renews on its own, then the store's refresh token is not presented afterwards", async () => {
    const { tokens, source, register } = start()
    const renew = () => Promise.all([tokens.renew(), tokens.getAccessToken({ maxWaitMs: 300 })])
    register.isAway = false
    await tokens.getAccessToken()
    register.isAway = true
    await outcome<unknown>(tokens.reset())
    await renew()
    await renew()
    register.isAway = false
    await renew()
    expect(source.calls.map((call) => call.refreshToken)).toEqual([undefined, undefined, 'refresh-2', undefined])
  })

  it('when the token is still valid, then no caller waits, and the token request of its renewal is spread as well', async () => {
    const { tokens, source, register, clock, observed } = start()
    register.isAway = false
    await tokens.getAccessToken()
    register.isAway = true
    // No caller waits for this renewal.
    while (observed.storeUnavailable.length === 0) await clock.advance(100)
    expect(await tokens.getAccessToken()).toBe('access-1')
    await clock.advance(900)
    expect(source.calls).toHaveLength(1)
    await clock.advance(100)
    expect(source.kinds).toBe('obtain obtain')
  })

  it('when a step may take longer than a lease lasts, then a private token is used anyway (F327)', async () => {
    const clock = manualClock()
    const never = () => new Promise<never>(() => undefined)
    const store = sharedStore({ kind: 'silent', read: never, replace: never }, { commandTimeoutMs: 1_000 })
    // The first lease request waits for the store for 4 s, and the lease lasts 3 s.
    const { tokens } = manage(new ScriptedSource(), { store, exchangeTimeoutMs: 2_000, random: () => 0 }, clock)
    const asked = outcome(tokens.getAccessToken({ maxWaitMs: 6_000 }))
    await clock.advance(6_000)
    expect(await asked).toBe('access-1')
  })

  it('when each lease has expired before the store grants it, then the next one lasts twice as long (F327)', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    const slow: TokenRegister = {
      kind: 'slow',
      async read(key) {
        const reading = await register.read(key)
        await new Promise((resolve) => clock.setTimer(() => resolve(undefined), 4_000))
        return reading
      },
      replace: (...given) => register.replace(...given),
    }
    const store = sharedStore(slow, { commandTimeoutMs: 5_000 })
    const { tokens, source } = manage(new ScriptedSource(), { store, exchangeTimeoutMs: 2_000 }, clock)
    const asked = outcome(tokens.getAccessToken())
    for (let second = 0; second < 30; second += 1) await clock.advance(1_000)
    expect([await asked, source.kinds]).toEqual(['access-1', 'obtain'])
  })

  it('when the only caller has left, and the store fails as the lease is released, then no renewal has failed (F328)', async () => {
    const { tokens, source, register, observed } = start({ renewal: { background: false } })
    register.isAway = false
    const gate = new Promise<void>((resolve) => (register.beforeAnswer = () => resolve()))
    const caller = new AbortController()
    const asked = outcome(tokens.getAccessToken({ signal: caller.signal }))
    await gate
    caller.abort()
    register.isReadOnly = true
    await settle()
    expect(await asked).toMatchObject({ name: 'AbortError' })
    expect([source.calls, observed.renewalFailed, tokens.status().phase]).toEqual([[], [], 'empty'])
  })

  it('when the process can only read, then it still adopts tokens that others have stored', async () => {
    const { tokens, source, register, clock } = start()
    register.isAway = false
    register.isReadOnly = true
    const asked = tokens.getAccessToken()
    await clock.advance(2_000)
    await asked
    // Another process, whose own connection can write.
    register.isReadOnly = false
    const other = manage(new ScriptedSource({ lifetimeMs: 600_000 }), { store: sharedStore(register) }, clock)
    await other.tokens.renew()
    register.isReadOnly = true
    await clock.advance(60_000)
    const { accessTokens } = { accessTokens: [await tokens.getAccessToken(), await other.tokens.getAccessToken()] }
    expect(accessTokens[0]).toBe(accessTokens[1])
    expect([source.kinds, tokens.status().counts.adoptions]).toEqual(['obtain', 1])
  })

  it('when the process has a private refresh token, then it presents it at once', async () => {
    const { tokens, source, clock } = start()
    const asked = tokens.getAccessToken()
    await settle()
    await clock.advance(1_000)
    await asked
    await tokens.renew()
    expect(source.kinds).toBe('obtain refresh')
  })

  it.each([
    ['close', 0],
    ['reset', 1],
  ] as const)(
    'when %s() is called during an outage, then the earlier renewal makes no token request',
    async (end, callsAfter) => {
      const { tokens, source, clock } = start()
      const asked = outcome(tokens.getAccessToken())
      await settle()
      await outcome(tokens[end]())
      await clock.advance(999)
      expect(source.calls).toEqual([])
      await clock.advance(5_000)
      await asked
      expect(source.calls).toHaveLength(callsAfter)
    },
  )
})
