import { describe, expect, it } from '@jest/globals'
import { type LoginManager, person } from '../../src/login/index.ts'
import type { ManagerInternals } from '../../src/core/manager-internals.ts'
import { sharedStore } from '../../src/store/index.ts'
import { failing, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister, WatchedRegister } from '../support/memory-register.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

class LoginSource extends ScriptedSource {
  readonly login = person
  constructor() {
    super({ pairs: true })
  }
}

const ALICE = { accessToken: 'alice', accessLifetimeMs: 60_000, refreshToken: 'a', subject: 'alice' }
const BOB = { accessToken: 'bob', accessLifetimeMs: 60_000, refreshToken: 'b', subject: 'bob' }

const internals = (tokens: LoginManager) =>
  Reflect.get(tokens, Symbol.for('axios-evergreen.TokenManager')) as ManagerInternals

describe('given an idle manager that follows its login in a store', () => {
  const start = async (boundTo?: Promise<string>) => {
    const source = () => Object.assign(new LoginSource(), boundTo && { boundTo })
    const clock = manualClock()
    const store = sharedStore(new WatchedRegister(clock), { encryptionKeys: [{ id: 'k', key: randomKey() }] })
    const one = manage(source(), { store, renewal: { keepWarm: 'never' } }, clock)
    const other = manage(source(), { store, renewal: { keepWarm: 'never' } }, clock)
    await one.tokens.adopt(ALICE)
    const stop = internals(other.tokens).followLogin!()
    await settle()
    return { clock, one, other, stop }
  }
  const randomKey = () => crypto.getRandomValues(new Uint8Array(32))

  it('when it starts following, then it has the current login', async () => {
    const { other } = await start()
    expect([other.tokens.status().login, other.tokens.peekAccessToken()]).toEqual(['present', 'alice'])
    expect(other.source.calls).toEqual([])
  })

  it('when its check fails, then it checks again, and has the current login (F326)', async () => {
    const clock = manualClock()
    const register = new WatchedRegister(clock)
    const one = manage(new LoginSource(), { store: sharedStore(register) }, clock)
    await one.tokens.adopt(ALICE)
    const read = register.read.bind(register)
    register.read = () => Promise.reject(new Error('the database is gone'))
    const other = manage(new LoginSource(), { store: sharedStore(register), renewal: { keepWarm: 'never' } }, clock)
    const stop = internals(other.tokens).followLogin!()
    await clock.advance(3_000)
    expect(other.tokens.status().login).toBeUndefined()
    register.read = read
    await clock.advance(1_000)
    expect([other.tokens.status().login, other.tokens.peekAccessToken()]).toEqual(['present', 'alice'])
    // It knows the login, so it does not read again.
    let reads = 0
    register.read = (key) => ((reads += 1), read(key))
    await clock.advance(5_000)
    stop()
    expect([reads, other.source.calls]).toEqual([0, []])
  })

  it('when the check fails that waited for a pending login without a result, then it checks again, too (F326)', async () => {
    const clock = manualClock()
    const register = new WatchedRegister(clock)
    const one = manage(new LoginSource(), { store: sharedStore(register) }, clock)
    await one.tokens.adopt(ALICE)
    const other = manage(new LoginSource(), { store: sharedStore(register), renewal: { keepWarm: 'never' } }, clock)
    const read = register.read.bind(register)
    register.read = () => Promise.reject(new Error('the database is gone'))
    const missed = other.tokens.adopt(Promise.resolve(undefined))
    const stop = internals(other.tokens).followLogin!()
    await missed
    await settle()
    register.read = read
    await clock.advance(1_000)
    stop()
    expect(other.tokens.status().login).toBe('present')
  })

  it('when following has stopped, then a failed check is not repeated', async () => {
    const clock = manualClock()
    const register = new WatchedRegister(clock)
    let reads = 0
    register.read = () => ((reads += 1), Promise.reject(new Error('the database is gone')))
    const { tokens } = manage(
      new LoginSource(),
      { store: sharedStore(register), renewal: { keepWarm: 'never' } },
      clock,
    )
    internals(tokens).followLogin!()()
    await clock.advance(5_000)
    expect(reads).toBe(1)
  })

  it.each([
    ['its tokens are bearer tokens', undefined],
    ['its tokens are bound to a key', Promise.resolve('the-thumbprint-of-a-key')],
  ])('when the user logs out elsewhere, and %s, then the manager is notified at once (F211)', async (_, boundTo) => {
    const { one, other } = await start(boundTo)
    expect(other.tokens.peekAccessToken()).toBe('alice')
    await one.tokens.logout()
    await settle()
    expect(other.observed.loginChanged.at(-1)).toEqual({
      login: 'required',
      by: 'elsewhere',
      account: 'unknown',
      reason: 'logged-out',
    })
    expect([other.tokens.status().login, other.tokens.peekAccessToken()]).toEqual(['required', undefined])
  })

  it('when another user logs in elsewhere, then the manager is notified before any request (F211)', async () => {
    const { one, other } = await start()
    await one.tokens.adopt(BOB)
    await settle()
    expect(other.observed.loginChanged.at(-1)).toEqual({ login: 'present', by: 'elsewhere', account: 'other' })
    expect(other.tokens.peekAccessToken()).toBe('bob')
  })

  describe('and that needed a token before any user had logged in', () => {
    const loggedInLater = async () => {
      const { clock, one, other } = await start()
      await one.tokens.logout()
      await settle()
      expect(await outcome(other.tokens.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
      await one.tokens.adopt({ ...ALICE, accessToken: 'again', refreshToken: 'again-refresh' })
      await settle()
      return { clock, other }
    }

    it('when the user logs in elsewhere, then its status shows no earlier error', async () => {
      const { other } = await loggedInLater()
      expect(other.tokens.peekAccessToken()).toBe('again')
      expect(other.tokens.status()).toMatchObject({ phase: 'fresh', login: 'present' })
      expect(other.tokens.status()).not.toHaveProperty('lastError')
    })

    it('when the API then rejects the access token, then it refreshes, and the login continues', async () => {
      const { clock, other } = await loggedInLater()
      const replaced = other.tokens.replaceAccessToken('again')
      await clock.advance(2_000)
      expect(await outcome(replaced)).toMatch('access')
      expect(other.observed.loginChanged.at(-1)).toMatchObject({ login: 'present' })
    })
  })

  it('when it has stopped following, then it receives no more changes', async () => {
    const { one, other, stop } = await start()
    stop()
    await one.tokens.logout()
    await settle()
    expect(other.tokens.peekAccessToken()).toBe('alice')
  })
})

describe('given a login in a store that may have lost writes', () => {
  const start = async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    register.epoch = 'first'
    const store = sharedStore(register, { commandTimeoutMs: 1_000 })
    const world = manage(new LoginSource(), { store, renewal: { keepWarm: 'never' } }, clock)
    await world.tokens.adopt(ALICE)
    register.epoch = 'second'
    await clock.advance(61_000)
    // The owners first have time to write back the tokens that they have seen.
    const asked = outcome(world.tokens.getAccessToken())
    await clock.advance(31_000)
    expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    return world
  }

  it('when nothing was lost, then the login continues (F198, F349)', async () => {
    const { source, tokens, observed } = await start()
    expect(await tokens.getAccessToken()).toBe('access-1')
    expect([source.calls.map(({ refreshToken }) => refreshToken), observed.suspicious]).toEqual([['a'], []])
  })

  it('when the refresh token was used in the lost writes, then the login ends as lost, with low severity (F198, F387)', async () => {
    const { source, tokens, observed } = await start()
    source.script.push(failing(401))
    expect(await outcome(tokens.getAccessToken())).toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'lost',
    })
    expect(observed.suspicious).toMatchObject([{ evidence: 'own-unknown-outcome', severity: 'low' }])
  })
})
