import { describe, expect, it } from '@jest/globals'
import type { TokenError } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { GRANT_DETAILS } from '../../src/core/token-source.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

const login = () => Object.assign(new ScriptedSource({ pairs: true }), { login: person })

describe('given a login that is adopted without a refresh token (F351)', () => {
  it('then an anomaly reports it at once, and the error at its expiry names what to request', async () => {
    const { clock, tokens, observed } = manage(login())
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000 })
    await settle()
    expect(observed.anomaly).toEqual([{ kind: 'no-refresh-token', message: expect.stringContaining('offline_access') }])
    await clock.advance(60_000)
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'expired',
      message: expect.stringMatching(/no refresh token.*offline_access.*prompt=consent/),
    })
    expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'expired' })
  })

  it('when it has one, or the source can obtain, then nothing is reported', async () => {
    for (const source of [login(), new ScriptedSource({ pairs: true })]) {
      const { tokens, observed } = manage(source)
      await tokens.adopt('login' in source ? source.grant() : { accessToken: 'a', accessLifetimeMs: 60_000 })
      await settle()
      expect(observed.anomaly).toEqual([])
    }
  })
})

describe('given an obtain that returns the very token that has expired (F375)', () => {
  const again = (more = {}) => ({ accessToken: 'same', accessLifetimeMs: 60_000, ...more })

  it('when its lifetime was stated, then that is not a renewal', async () => {
    const { source, clock, tokens, observed } = manage(new ScriptedSource(), { retry: { maxAttempts: 1 } })
    source.script.push(again, again, again)
    await tokens.getAccessToken()
    await clock.advance(7_200_000)
    const { length } = observed.renewed
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_TOKEN_RESPONSE',
      message: expect.stringContaining('cache'),
    })
    expect(observed.renewed).toHaveLength(length)
  })

  it('when its lifetime was not stated, then that is a renewal: a session may return the same token again', async () => {
    const { source, clock, tokens } = manage(new ScriptedSource())
    const untold = () => again({ [GRANT_DETAILS]: { isLifetimeAssumed: true } })
    source.script.push(untold, untold, untold)
    await tokens.getAccessToken()
    await clock.advance(7_200_000)
    expect(await tokens.getAccessToken()).toBe('same')
  })
})

describe('given an access token that lives less than five seconds (F383)', () => {
  it('when the same token had a longer lifetime before, then nothing is reported', async () => {
    const { source, clock, tokens, observed } = manage(new ScriptedSource(), { renewal: { keepWarm: 'never' } })
    for (const accessLifetimeMs of [10_000, 4_000])
      source.script.push(() => ({ accessToken: 'same', accessLifetimeMs }))
    await tokens.getAccessToken()
    await clock.advance(7_500)
    tokens.peekAccessToken()
    await settle()
    expect([source.calls.length, observed.anomaly]).toEqual([2, []])
  })

  it('when nothing explains it, then it is reported', async () => {
    const { tokens, observed } = manage(new ScriptedSource({ lifetimeMs: 3_600 }))
    await tokens.getAccessToken()
    await settle()
    expect(observed.anomaly).toMatchObject([{ kind: 'unexpected-lifetime' }])
  })
})

describe('given a login whose store has failed over (F387)', () => {
  it('when its refresh token is in doubt only for that reason, then the error names the store', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    register.epoch = 'one'
    const { tokens, observed } = manage(
      login(),
      { store: sharedStore(register), renewal: { maxStalenessMs: Infinity } },
      clock,
    )
    await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r', refreshLifetimeMs: 3_600_000 })
    register.epoch = 'two'
    await clock.advance(46_000)
    tokens.peekAccessToken()
    await settle()
    expect(observed.renewalFailed).toMatchObject([{ error: { code: 'ERR_STORE_UNAVAILABLE' } }])
    expect(tokens.peekAccessToken()).toBe('a')
  })
})

describe('given a caller who gives up at its limit (F388)', () => {
  const said = async (world: ReturnType<typeof manage>, maxWaitMs = 2_000) => {
    const waiting = outcome(world.tokens.getAccessToken({ maxWaitMs }))
    await settle()
    await world.clock.advance(maxWaitMs)
    const error = await waiting
    expect(error).toMatchObject({ code: 'ERR_WAIT_TIMEOUT' })
    return (error as TokenError).message
  }

  it('when a token request takes long, then the error names the request and exchangeTimeoutMs', async () => {
    const source = Object.assign(new ScriptedSource({ takesMs: 20_000 }), { origin: 'https://id.example.com' })
    const message = await said(manage(source))
    expect(message).toMatch(
      /renewal\.maxWaitMs.*the obtain request to https:\/\/id\.example\.com.*exchangeTimeoutMs \(10000 ms\)/,
    )
  })

  it('when the renewal pauses between two requests, then the error names the pause', async () => {
    const source = new ScriptedSource()
    for (let n = 0; n < 4; n += 1) source.script.push(failing(503))
    const message = await said(manage(source, { retry: { baseDelayMs: 15_000 } }))
    expect(message).toMatch(/the pause before the next token request/)
  })

  it('when the store does not respond, then the error names the store', async () => {
    const silent = () => new Promise<never>(() => undefined)
    const store = sharedStore({ kind: 'silent', read: silent, replace: silent }, { commandTimeoutMs: 60_000 })
    expect(await said(manage(new ScriptedSource(), { store }))).toMatch(/the token store.*commandTimeoutMs/)
  })

  it('when another manager makes the request, then the error names that manager', async () => {
    const clock = manualClock()
    const store = sharedStore(new MemoryRegister(clock))
    const source = new ScriptedSource()
    const { answer } = held(() => source.grant())
    source.script.push(answer)
    const first = manage(source, { store }, clock)
    void outcome(first.tokens.getAccessToken())
    await settle()
    expect(await said(manage(source, { store }, clock))).toMatch(/another owner/)
  })

  it('when a login is pending, then the error names that login', async () => {
    const world = manage(login())
    void outcome(world.tokens.adopt(new Promise(() => undefined)))
    expect(await said(world)).toMatch(/a pending login/)
  })
})
