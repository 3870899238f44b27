import { describe, expect, it } from '@jest/globals'
import { memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import type { ManagerInternals } from '../../src/core/manager-internals.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

/** A source whose tokens only a user can obtain. */
class LoginSource extends ScriptedSource {
  readonly login = person
  constructor() {
    super({ pairs: true })
  }
}

/** Counts its reads. A silent register never responds. */
class CountedRegister extends MemoryRegister {
  reads = 0
  isSilent = false

  override read(key: string) {
    this.reads += 1
    return this.isSilent ? new Promise<never>(() => undefined) : super.read(key)
  }
}

class TellingRegister extends CountedRegister {
  watch = () => () => undefined
}

const HOUR = 3_600_000
const alice = { accessToken: 'alice', accessLifetimeMs: HOUR, refreshToken: 'a' }

/** Alice has logged in in one process, and another one uses her login. */
async function twoProcesses(renewal: TokenManagerOptions['renewal'] = {}, Register = CountedRegister) {
  const clock = manualClock()
  const register = new Register(clock)
  const store = sharedStore(register)
  const open = (source: ScriptedSource = new LoginSource()) => manage(source, { store, renewal }, clock)
  const [there, here] = [open(), open()]
  await there.tokens.adopt(alice)
  expect(await here.tokens.getAccessToken()).toBe('alice')
  register.reads = 0
  return { clock, register, here, there, open }
}

describe('given a shared login whose tokens live for an hour (F278)', () => {
  it('when the user logs out elsewhere, then no token is handed out after 30 s', async () => {
    const { clock, here, there } = await twoProcesses()
    await there.tokens.logout()
    await clock.advance(29_999)
    expect([here.tokens.peekAccessToken(), await here.tokens.getAccessToken()]).toEqual(['alice', 'alice'])
    await clock.advance(1)
    expect(here.tokens.peekAccessToken()).toBeUndefined()
    expect(await outcome(here.tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'logged-out',
    })
    expect(here.observed.loginChanged.at(-1)).toMatchObject({ login: 'required', by: 'elsewhere' })
  })

  it('when the user logs out elsewhere, and renewal is due at the next request, then that request looks into the store, too', async () => {
    const { clock, here, there } = await twoProcesses({ keepWarm: 'never' })
    await clock.advance(HOUR - 60_000)
    await there.tokens.logout()
    await clock.advance(10_000)
    expect([here.tokens.status().phase, here.tokens.peekAccessToken()]).toEqual(['due', undefined])
    expect(await outcome(here.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })

  it('when another user logs in elsewhere, then no caller gets the token of Alice after that time', async () => {
    const { clock, here, there } = await twoProcesses()
    await there.tokens.adopt({ ...alice, accessToken: 'bob', refreshToken: 'b' })
    await clock.advance(30_000)
    expect(await outcome(here.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(await here.tokens.getAccessToken()).toBe('bob')
  })

  it('when it is in use, then there is one read in 30 s for a hundred callers, and none without use', async () => {
    const { clock, register, here } = await twoProcesses({ keepWarm: 'never' })
    for (let second = 0; second < 300; second += 1) {
      await clock.advance(1_000)
      await Promise.all(Array.from({ length: 100 }, () => here.tokens.getAccessToken()))
    }
    expect(register.reads).toBe(10)
    await clock.advance(600_000)
    expect(register.reads).toBe(10)
  })

  it('when the store does not respond, then callers wait for one step at most, and the next check comes after 30 s', async () => {
    const { clock, register, here } = await twoProcesses()
    register.isSilent = true
    await clock.advance(30_000)
    let token: string | undefined
    void here.tokens.getAccessToken().then((got) => (token = got))
    await clock.advance(249)
    expect(token).toBeUndefined()
    await clock.advance(1)
    expect([token, here.tokens.peekAccessToken()]).toEqual(['alice', 'alice'])
    expect(register.reads).toBe(1)
  })

  it('when a caller gives up during the check, then only its own wait ends', async () => {
    const { clock, register, here } = await twoProcesses()
    register.isSilent = true
    await clock.advance(30_000)
    const gone = new AbortController()
    const [leaves, stays] = [here.tokens.getAccessToken({ signal: gone.signal }), here.tokens.getAccessToken()]
    gone.abort(new Error('gone'))
    await expect(leaves).rejects.toThrow('gone')
    await clock.advance(250)
    expect(await stays).toBe('alice')
  })

  it.each<[string, () => ReturnType<typeof twoProcesses>]>([
    ['maxStalenessMs is Infinity', () => twoProcesses({ maxStalenessMs: Infinity })],
    ['the store reports changes, and the manager follows it', () => twoProcesses({}, TellingRegister)],
  ])('when %s, then no request waits for a check', async (_, start) => {
    const { clock, register, here } = await start()
    const key = Symbol.for('axios-evergreen.TokenManager')
    ;(Reflect.get(here.tokens, key) as ManagerInternals).followLogin!()
    await settle()
    register.reads = 0
    await clock.advance(600_000)
    expect([here.tokens.peekAccessToken(), register.reads]).toEqual(['alice', 0])
  })

  it('when the manager has two followers, and one of them stops, then no request waits for a check', async () => {
    const { clock, register, here } = await twoProcesses({}, TellingRegister)
    const key = Symbol.for('axios-evergreen.TokenManager')
    const { followLogin } = Reflect.get(here.tokens, key) as ManagerInternals
    const [stop] = [followLogin!(), followLogin!()]
    stop()
    await settle()
    register.reads = 0
    await clock.advance(600_000)
    expect([here.tokens.peekAccessToken(), register.reads]).toEqual(['alice', 0])
  })

  it('when the manager follows a store that does not report changes, then it checks anyway', async () => {
    const { clock, here, there } = await twoProcesses()
    const key = Symbol.for('axios-evergreen.TokenManager')
    ;(Reflect.get(here.tokens, key) as ManagerInternals).followLogin!()
    await there.tokens.logout()
    await clock.advance(30_000)
    expect(await outcome(here.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })

  it('when maxStalenessMs is shorter, then that applies; 0: each request checks', async () => {
    const { clock, register, here } = await twoProcesses({ maxStalenessMs: 5_000 })
    await clock.advance(4_999)
    expect(here.tokens.peekAccessToken()).toBe('alice')
    await clock.advance(1)
    expect(here.tokens.peekAccessToken()).toBeUndefined()
    const each = await twoProcesses({ maxStalenessMs: 0 })
    expect([await each.here.tokens.getAccessToken(), each.register.reads]).toEqual(['alice', 1])
    expect(register.reads).toBe(1)
  })
})

describe('given a source that can obtain, or no store', () => {
  it('when time passes, then no request waits for a check', async () => {
    const { clock, register, open } = await twoProcesses()
    const service = open(new ScriptedSource({ lifetimeMs: HOUR }))
    await outcome(service.tokens.getAccessToken())
    register.reads = 0
    await clock.advance(60_000)
    expect([typeof service.tokens.peekAccessToken(), register.reads]).toEqual(['string', 0])
    const alone = manage(new LoginSource())
    await alone.tokens.adopt(alice)
    await alone.clock.advance(60_000)
    expect(alone.tokens.peekAccessToken()).toBe('alice')
  })
})

describe('given a bad maxStalenessMs', () => {
  it.each([
    ['text', '30', /renewal\.maxStalenessMs must be a number/],
    ['negative', -1, /renewal\.maxStalenessMs must be a finite number from 0/],
    ['NaN', Number.NaN, /renewal\.maxStalenessMs/],
  ])('when it is %s, then the error names it', (_, maxStalenessMs, message) => {
    const create = () =>
      manage(new LoginSource(), { store: memoryStore(), renewal: { maxStalenessMs: maxStalenessMs as never } })
    expect(create).toThrow(message)
  })
})

describe('given a login that was adopted while the store was unavailable, and is used only here', () => {
  it('when the store is back, and empty, then a check stores the login, and does not end it', async () => {
    const clock = manualClock()
    const register = new CountedRegister(clock)
    const { tokens, observed } = manage(new LoginSource(), { store: sharedStore(register) }, clock)
    register.isSilent = true
    const adopted = outcome(tokens.adopt(alice))
    await clock.advance(2_000)
    expect(await adopted).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    register.isSilent = false
    await clock.advance(60_000)
    expect([await tokens.getAccessToken(), observed.loginChanged.length]).toEqual(['alice', 1])
    expect(register.values.size).toBe(1)
  })
})
