import { describe, expect, it } from '@jest/globals'
import type { TokenEvents } from '../../src/core/events.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { settle } from '../support/watched-clock.ts'

describe('given listeners', () => {
  it('when they throw or reject, then nothing else is affected (F102)', async () => {
    const { tokens, observed } = manage()
    tokens.on('renewed', () => {
      throw new Error('listener')
    })
    tokens.on('renewed', () => Promise.reject(new Error('listener')))
    expect(await tokens.getAccessToken()).toBe('access-1')
    await settle()
    expect(observed.renewed).toHaveLength(1)
  })

  it('when they call the manager, then that works (F101)', async () => {
    const { source, tokens } = manage()
    const got: string[] = []
    const off = tokens.on('renewed', async () => {
      off()
      got.push(await tokens.getAccessToken())
      await tokens.reset()
      got.push(await tokens.getAccessToken())
      await tokens.renew()
    })
    await tokens.getAccessToken()
    await settle()
    expect([got, source.calls.length]).toEqual([['access-1', 'access-2'], 3])
  })

  it('when one is removed, then it is no longer called; the same function twice is two listeners', async () => {
    const { tokens } = manage()
    let heard = 0
    const listener = () => (heard += 1)
    const off = tokens.on('renewed', listener)
    tokens.on('renewed', listener)
    await tokens.renew()
    await settle()
    off()
    off()
    await tokens.renew()
    await settle()
    expect(heard).toBe(3)
  })

  it('when one listens to any event, then it receives each with its name until it is removed', async () => {
    const { source, tokens } = manage()
    const heard: string[] = []
    const off = tokens.onAny((name, event) => {
      heard.push(name === 'renewed' ? `renewed by ${(event as TokenEvents['renewed']).by}` : name)
      throw new Error('listener')
    })
    await tokens.getAccessToken()
    source.script.push(failing(401))
    await outcome(tokens.renew())
    await settle()
    off()
    await tokens.reset()
    await tokens.renew()
    await settle()
    expect(heard).toEqual(['renewed by obtain', 'renewalFailed'])
    expect(() => tokens.onAny('no function' as never)).toThrow('The listener must be a function')
  })

  it('when an event is emitted, then it is frozen', async () => {
    const { tokens, observed } = manage()
    await tokens.renew()
    await settle()
    expect(Object.isFrozen(observed.renewed[0])).toBe(true)
  })

  it.each([
    ['error', () => undefined, /event name .*'renewed'.*'error'/],
    ['renewed', 'not a function', /listener must be a function/],
  ])('when %j is subscribed with %j, then that is rejected (F103)', (name, listener, message) => {
    expect(() => manage().tokens.on(name as never, listener as never)).toThrow(message)
  })

  it('when the same anomaly repeats, then it is reported once a minute', async () => {
    const { clock, tokens, observed } = manage()
    for (let n = 0; n < 3; n += 1) {
      clock.stepWall(10_000)
      tokens.peekAccessToken()
      await tokens.getAccessToken()
    }
    await settle()
    expect(observed.anomaly).toHaveLength(1)
    await clock.advance(60_000)
    clock.stepWall(10_000)
    await tokens.getAccessToken()
    await settle()
    expect(observed.anomaly).toHaveLength(2)
  })
})

describe('given a manager, when its status is read', () => {
  it('then the phase follows its state', async () => {
    const { clock, source, tokens } = manage(new ScriptedSource(), { renewal: { keepWarm: 'never' } })
    const phases = [tokens.status().phase]
    await tokens.getAccessToken()
    for (const ms of [0, 45_000, 12_000, 3_000]) {
      await clock.advance(ms)
      phases.push(tokens.status().phase)
    }
    source.script.push(failing(400))
    await outcome(tokens.getAccessToken())
    phases.push(tokens.status().phase)
    await tokens.close()
    phases.push(tokens.status().phase)
    expect(phases).toEqual(['empty', 'fresh', 'due', 'expired', 'expired', 'cooling-down', 'closed'])
  })

  it('then while a token is valid its freshness is the phase, whatever else is wrong', async () => {
    const { clock, source, tokens } = manage()
    await tokens.getAccessToken()
    source.script.push(failing(400))
    await outcome(tokens.renew())
    expect(tokens.status()).toEqual({
      phase: 'fresh',
      renewing: false,
      accessExpiresAt: clock.wallNow() + 60_000,
      nextAttemptAt: clock.wallNow() + 60_000,
      lastError: 'ERR_CREDENTIALS_REJECTED',
      counts: { obtains: 2, refreshes: 0, adoptions: 0, failures: 1, suspicions: 0 },
    })
  })

  it('then the cool-down ends at its instant', async () => {
    const { clock, source, tokens } = manage()
    source.script.push(failing(404))
    await outcome(tokens.getAccessToken())
    await clock.advance(4_999)
    expect(tokens.status()).toMatchObject({ phase: 'cooling-down', nextAttemptAt: clock.wallNow() + 1 })
    await clock.advance(1)
    expect(tokens.status()).not.toHaveProperty('nextAttemptAt')
    expect(tokens.status()).toMatchObject({ phase: 'empty', lastError: 'ERR_TOKEN_REQUEST' })
  })
})
