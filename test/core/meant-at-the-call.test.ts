import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions } from '../../src/index.ts'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import type { ScriptedSource } from '../support/managed.ts'
import { failing, held, manage, outcome } from '../support/managed.ts'
import { MemoryRegister, WatchedRegister } from '../support/memory-register.ts'
import { asked, loginOf, LoginSource, refused } from '../support/people.ts'
import { settle } from '../support/watched-clock.ts'

const HOUR = 3_600_000
const login = (name: string, subject?: string) => loginOf(name, subject, HOUR)

/** Managers of one store and one clock, in the order in which they are opened. */
function processes(options: Partial<TokenManagerOptions> = {}, Register = MemoryRegister) {
  const clock = manualClock()
  const register = new Register(clock)
  const open = () => {
    const source = new LoginSource({ pairs: true, lifetimeMs: HOUR })
    const store = sharedStore(register, { commandTimeoutMs: 5_000 })
    return { ...manage(source, { store, renewal: { keepWarm: 'never' }, ...options }, clock), source }
  }
  return { clock, register, here: open(), there: open() }
}

/** Alice has logged in here, and the other process uses her login. */
async function aliceInBoth(...given: Parameters<typeof processes>) {
  const world = processes(...given)
  await world.here.tokens.adopt(login('alice'))
  expect(await world.there.tokens.getAccessToken()).toBe('alice')
  return world
}

describe('given a store that reports a logout elsewhere during a renewal here', () => {
  it.each<[string, (source: ScriptedSource) => Parameters<typeof held>[0]]>([
    ['returns a token', (source) => () => source.grant()],
    ['is rejected', () => refused],
    ['meets a 503', () => failing(503)],
  ])('F333: when the refresh %s, then the login has ended here, too', async (_, answerOf) => {
    const { clock, here, there } = await aliceInBoth({ retry: { maxAttempts: 1 } }, WatchedRegister)
    internalsOf(here.tokens)?.followLogin?.()
    await settle()
    const answer = answerOf(here.source)
    const late = held(answer)
    here.source.script.push(late.answer)
    void outcome(here.tokens.renew())
    await settle()
    await there.tokens.reset()
    await settle()
    late.open()
    await clock.advance(10)
    expect([here.tokens.peekAccessToken(), here.tokens.status().login]).toEqual([undefined, 'required'])
  })
})

describe('given another owner in a pause that the service asked for', () => {
  const pausing = async () => {
    const world = await aliceInBoth()
    for (let n = 0; n < 3; n += 1) world.there.source.script.push(failing(429, { retryAfterMs: 29_000 }))
    void outcome(world.there.tokens.renew())
    await settle()
    return world
  }

  it('F334: when the user logs out here, then the logout does not wait for that owner', async () => {
    const { here, there } = await pausing()
    expect(await here.tokens.logout()).toEqual({ revoked: true })
    expect([here.source.revoked, there.source.kinds]).toEqual([['alice-r'], 'refresh'])
  })

  it('F334: when the next login is only a refresh token, then its callers do not wait for that owner', async () => {
    const { here } = await pausing()
    void here.tokens.logout()
    void here.tokens.adopt({ refreshToken: 'bob-r' })
    expect(await here.tokens.getAccessToken()).toBe('access-1')
  })
})

describe('given an act that cannot be written to the store yet', () => {
  it('F334: when a token is requested, then the login known to the manager counts, without waiting for a check', async () => {
    const { here } = processes({ renewal: { maxStalenessMs: 0 } })
    await here.tokens.adopt(login('alice'))
    here.source.script.push(() => new Promise(() => undefined))
    void outcome(here.tokens.renew())
    await settle()
    void here.tokens.logout()
    void here.tokens.adopt(login('bob'))
    expect(await here.tokens.getAccessToken()).toBe('bob')
  })
})

describe('given requests with a late 401', () => {
  it('F335: when they carry an older token of an ended login, then they get no token of the next login', async () => {
    const { here } = processes()
    await here.tokens.adopt(login('alice'))
    await here.tokens.renew()
    await here.tokens.logout()
    await here.tokens.adopt(login('bob'))
    expect(await asked(here.tokens.replaceAccessToken('alice'))).toBe('ERR_LOGIN_REPLACED')
    expect(await asked(here.tokens.replaceAccessToken('access-1'))).toBe('ERR_LOGIN_REPLACED')
  })

  it('F335: when the next login has often been renewed since, then they get none of its tokens', async () => {
    const { here } = processes()
    await here.tokens.adopt(login('alice'))
    await here.tokens.logout()
    await here.tokens.adopt(login('bob'))
    for (let n = 0; n < 9; n += 1) await here.tokens.renew()
    expect(await asked(here.tokens.replaceAccessToken('alice'))).toBe('ERR_LOGIN_REPLACED')
  })

  it('F335: when the same tokens were adopted twice, then they get the next token', async () => {
    const { here } = processes()
    await here.tokens.adopt(login('page'))
    await here.tokens.adopt(login('page'))
    await here.tokens.renew()
    expect(await asked(here.tokens.replaceAccessToken('page'))).toBe('access-1')
  })
})

describe('given a pending login, and a valid one', () => {
  it('F336: when a renewal is requested, or a rejected token is replaced, then neither waits for the pending login', async () => {
    const { here } = processes()
    await here.tokens.adopt(login('alice'))
    void here.tokens.adopt(new Promise<undefined>(() => undefined))
    await here.tokens.renew()
    expect(await here.tokens.replaceAccessToken('access-1')).toBe('access-2')
  })
})

describe('given a closed manager', () => {
  it.each(['logout', 'reset'] as const)(
    'F337: when %s was called before, and finds the login of another user, then no caller gets that token',
    async (act) => {
      const { clock, here, there } = await aliceInBoth({ renewal: { keepWarm: 'always' } })
      await there.tokens.adopt(login('bob'))
      await there.tokens.close()
      const ended = here.tokens[act]()
      await here.tokens.close()
      await ended
      expect([here.tokens.peekAccessToken(), await asked(here.tokens.getAccessToken())]).toEqual([
        undefined,
        'ERR_CLOSED',
      ])
      expect([here.observed.loginChanged.at(-1)?.login, clock.pendingTimers]).toEqual(['required', 0])
    },
  )

  it('F337: when its check of the store has failed, then no timer is left', async () => {
    const { clock, register, here } = processes({}, WatchedRegister)
    register.read = () => Promise.reject(new Error('gone'))
    internalsOf(here.tokens)?.followLogin?.()
    await settle()
    expect(clock.pendingTimers).toBe(1)
    await here.tokens.close()
    expect(clock.pendingTimers).toBe(0)
  })
})

describe('given a store that does not respond, and a valid token', () => {
  const silent = async () => {
    const world = processes()
    await world.here.tokens.adopt(login('alice'))
    world.register.read = () => new Promise<never>(() => undefined)
    await world.clock.advance(30_000)
    return world
  }

  it('F338: when a caller can wait for less than one step of the store, then it gets the token', async () => {
    const { clock, here } = await silent()
    const waiting = asked(here.tokens.getAccessToken({ maxWaitMs: 100 }))
    await clock.advance(100)
    expect(await waiting).toBe('alice')
  })

  it('F338: when the caller gives up, then it is rejected with its own reason', async () => {
    const { here } = await silent()
    const caller = new AbortController()
    const waiting = asked(here.tokens.getAccessToken({ signal: caller.signal }))
    caller.abort('left')
    expect(await waiting).toBe('left')
  })
})

describe('given a user who has logged out here, and another one who has logged in elsewhere', () => {
  it('when a third user logs in here, then the replaced login is revoked (F281)', async () => {
    const { here, there } = processes()
    await here.tokens.adopt(login('alice', 'alice'))
    await here.tokens.logout()
    await there.tokens.adopt(login('carol', 'carol'))
    await here.tokens.adopt(login('bob', 'bob'))
    await settle()
    expect(here.source.revoked).toEqual(['alice-r', 'carol-r'])
  })
})
