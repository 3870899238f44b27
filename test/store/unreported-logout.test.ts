import { describe, expect, it } from '@jest/globals'
import type { NewTokens } from '../../src/core/stored-tokens.ts'
import { isTokenError } from '../../src/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'
import { type LoginLayer, person, session } from '../../src/login/index.ts'

const loginOf = (subject: string, loginId: string): NewTokens => ({ ...TOKENS, subject, loginId })
const BOB = loginOf('bob', '1')
const BOB_AGAIN = { ...loginOf('bob', '2'), accessToken: 'access-2', refreshToken: 'refresh-2' }
const CAROL = { ...loginOf('carol', '3'), accessToken: 'access-3', refreshToken: 'refresh-3' }

class Register extends MemoryRegister {
  isAway = false

  override async read(key: string) {
    if (this.isAway) throw new Error('away')
    return super.read(key)
  }
}

/** Bob has logged in here and there. He logs out here while the store is away. */
async function start() {
  const clock = manualClock()
  const register = new Register(clock)
  const { here, there, acquire } = twoOwners(register, clock)
  const { version, login = 0 } = await here.adopt(0, BOB)
  const newer = await there.adopt(version, BOB_AGAIN)
  expect(newer.login).toBe(login)
  const away = async (step: () => Promise<unknown>) => {
    register.isAway = true
    await step().catch(() => undefined)
    register.isAway = false
  }
  const logOut = () => here.clear(version, { login })
  await away(logOut)
  const found = async () => {
    const looked = await there.check?.(0)
    return looked?.kind === 'newer' ? looked.tokens.accessToken : looked
  }
  return { clock, register, here, there, acquire, version, login, newer: newer.version, away, logOut, found }
}

const LOGGED_OUT = { kind: 'missing', missing: 'logged-out' }

describe('given a logout that the store did not receive', () => {
  it('when the store is back and the owner acquires a lease, then it gets no newer tokens of that login, and no owner has them', async () => {
    const { acquire, version, found } = await start()
    expect(await acquire(version)).toMatchObject({ kind: 'granted', missing: 'logged-out' })
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the store is back and the owner checks, then no owner has tokens of that login', async () => {
    const { here, version, login, found } = await start()
    expect(await here.check?.(version, login)).toMatchObject(LOGGED_OUT)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the store is away for the first step after it, too, then it receives the logout with the next step', async () => {
    const { here, version, away, acquire, found } = await start()
    await away(() => here.check!(version))
    await away(() => acquire(version))
    expect(await found()).toBe('access-2')
    await acquire(version)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when another owner has renewed the tokens since, then no owner has those either', async () => {
    const { clock, there, acquire, version, newer, found } = await start()
    await clock.advance(30_000)
    const granted = await there.acquire('there', newer, 15_000)
    if (granted.kind === 'granted') await there.accept(granted, BOB_AGAIN)
    await acquire(version)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it.each([
    ['the same user', { ...BOB_AGAIN, refreshToken: 'refresh-4' }],
    ['another user', CAROL],
  ])('when %s has logged in there since, then that login stays', async (_, later) => {
    const { clock, there, acquire, version, newer, found } = await start()
    await clock.advance(10_000)
    await there.adopt(newer, later)
    await acquire(version)
    expect(await found()).toBe(later.accessToken)
  })

  it('when a user has logged in there since, and the store did not receive that either, then that login is stored', async () => {
    const { clock, register, there, acquire, version, newer, away, found } = await start()
    await clock.advance(10_000)
    await away(() => there.adopt(newer, CAROL))
    await clock.advance(10_000)
    await acquire(version)
    expect(register.isAway).toBe(false)
    await there.acquire('there', newer, 15_000)
    expect(await found()).toBe('access-3')
  })

  it('when a user logs in here, then the logout is no longer reported', async () => {
    const { here, acquire, version, away, found } = await start()
    await away(() => here.adopt(version, BOB_AGAIN))
    await acquire(version)
    expect(await found()).toBe('access-2')
  })

  it('when the store has received it, then it is not sent again', async () => {
    const { here, register, version, found } = await start()
    await here.check?.(version)
    const after = [...register.values]
    await here.check?.(version)
    expect([...register.values]).toEqual(after)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the user tries again, and the store receives that, then it is not sent again', async () => {
    const { here, register, version, logOut } = await start()
    await logOut()
    const after = [...register.values]
    await here.check?.(version)
    expect([...register.values]).toEqual(after)
  })

  it('when an exchange from before it ends now, and the store receives its tokens, then they are cleared, too', async () => {
    const clock = manualClock()
    const register = new Register(clock)
    const { here, there, acquire } = twoOwners(register, clock)
    const { version, login = 0 } = await here.adopt(0, BOB)
    const granted = await acquire(version)
    register.isAway = true
    await here.clear(version, { login }).catch(() => undefined)
    await here.accept(granted, BOB_AGAIN)
    register.isAway = false
    await acquire(version)
    expect(await there.check?.(0)).toMatchObject(LOGGED_OUT)
  })
})

class LoginSource extends ScriptedSource {
  readonly login: LoginLayer | undefined
  readonly revoked: string[] = []
  constructor(login: LoginLayer | undefined) {
    super({ pairs: login !== session })
    this.login = login
  }
  async revoke({ accessToken }: { accessToken?: string }) {
    this.revoked.push(accessToken!)
  }
}

const grant = (subject: string, n = '') => ({
  accessToken: `${subject}${n}`,
  accessLifetimeMs: 60_000,
  refreshToken: `refresh-of-${subject}${n}`,
  subject,
})

function processes(login: LoginLayer | 'none' = person, onUnavailable: 'fail' | 'private' = 'fail') {
  const clock = manualClock()
  const register = new Register(clock)
  const process = () => {
    const source = new LoginSource(login === 'none' ? undefined : login)
    const store = sharedStore(register, { onUnavailable })
    return { ...manage(source, { store, storeKey: 'a', renewal: { keepWarm: 'never' } }, clock), source }
  }
  const [here, there] = [process(), process()]
  /** Lets the time pass that the work takes. */
  const ended = async <Value>(work: Promise<Value>) => {
    const end = outcome(work)
    await clock.advance(5_000)
    return end
  }
  const untold = async (act: () => Promise<unknown>) => {
    register.isAway = true
    expect(await ended(act())).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    register.isAway = false
  }
  const tokenOf = async ({ tokens }: typeof here) => {
    await clock.advance(40_000)
    const got = await ended(tokens.getAccessToken())
    return isTokenError(got) ? got.loginReason : got
  }
  return { clock, register, here, there, ended, untold, tokenOf }
}

describe('given two processes, and a login that the store did not receive (F331)', () => {
  it('when another user has logged in since, then the logout ends only the unreported login', async () => {
    const { here, there, ended, untold, tokenOf } = processes()
    await untold(() => here.tokens.adopt(grant('bob')))
    await ended(there.tokens.adopt(grant('carol')))
    expect(await ended(here.tokens.logout())).toEqual({ revoked: true })
    expect([here.source.revoked, await tokenOf(there)]).toEqual([['bob'], 'carol'])
  })

  it('when the store did not receive the logout either, and it is tried again after another user has logged in, then that login stays', async () => {
    const { here, there, ended, untold, tokenOf } = processes()
    await untold(() => here.tokens.adopt(grant('bob')))
    await untold(() => here.tokens.logout())
    await ended(there.tokens.adopt(grant('carol')))
    await ended(here.tokens.logout())
    expect([here.source.revoked, await tokenOf(there)]).toEqual([['bob'], 'carol'])
  })

  it.each(['told', 'untold'])(
    'when the previous user has logged in again since, then a logout that is %s leaves that login',
    async (is) => {
      const { here, there, ended, untold, tokenOf } = processes()
      await ended(here.tokens.adopt(grant('alice')))
      await ended(there.tokens.getAccessToken())
      await untold(() => here.tokens.adopt(grant('bob')))
      await ended(there.tokens.adopt(grant('alice', '-2')))
      await (is === 'told' ? ended(here.tokens.logout()) : untold(() => here.tokens.logout()))
      await ended(here.tokens.getAccessToken())
      expect([here.source.revoked, await tokenOf(there)]).toEqual([['alice', 'bob'], 'alice-2'])
    },
  )

  it.each(['logout', 'reset'] as const)(
    'when the store has an older login that this process never saw, then %s ends that one, too, because the unreported login would have replaced it',
    async (act) => {
      const { here, there, ended, untold, tokenOf } = processes()
      await ended(there.tokens.adopt(grant('alice')))
      await untold(() => here.tokens.adopt(grant('bob')))
      await ended<unknown>(here.tokens[act]())
      expect([await tokenOf(here), await tokenOf(there)]).toEqual(['logged-out', 'logged-out'])
    },
  )

  it('when the store executes it after its logout, even if the user had tried twice, then the next step here ends it', async () => {
    const { register, here, there, ended, untold, tokenOf } = processes()
    const replace = register.replace.bind(register)
    let late: (() => Promise<boolean>) | undefined
    register.replace = (...given) => {
      late ??= () => replace(...given)
      return Promise.reject(new Error('cut'))
    }
    await ended(here.tokens.adopt(grant('bob')))
    register.replace = replace
    await untold(() => here.tokens.adopt(grant('bob', '-2')))
    await untold(() => here.tokens.logout())
    expect(await late?.()).toBe(true)
    expect([await tokenOf(here), await tokenOf(there)]).toEqual(['logged-out', 'logged-out'])
  })
})

describe('given acts in one turn, and another user who has logged in elsewhere', () => {
  it('when a session logs out here and Bob logs in, then the logout ends the session that was here, and the login ends the other one (F281)', async () => {
    const { here, there, ended } = processes(session)
    const own = await ended(here.tokens.getAccessToken())
    await ended(there.tokens.adopt(grant('carol')))
    const acts = [here.tokens.logout(), here.tokens.adopt(grant('bob'))]
    await Promise.all(acts.map((act) => ended<unknown>(act)))
    expect(here.source.revoked).toEqual([own, 'carol'])
  })

  it('when Alice logs out here and Bob logs in, then the tokens of her second login elsewhere are revoked, too', async () => {
    const { here, there, ended } = processes()
    await ended(here.tokens.adopt(grant('alice')))
    await ended(there.tokens.getAccessToken())
    await ended(there.tokens.adopt(grant('alice', '-2')))
    const acts = [here.tokens.logout(), here.tokens.adopt(grant('bob'))]
    await Promise.all(acts.map((act) => ended<unknown>(act)))
    expect(here.source.revoked).toEqual(['alice-2'])
  })
})

describe('given a source that needs no login, and tokens that the store did not receive', () => {
  it('when the store has other tokens by then, then reset clears those, too', async () => {
    const { here, there, ended, untold } = processes('none')
    await untold(() => here.tokens.adopt(grant('bob')))
    await ended(there.tokens.adopt(grant('carol')))
    await ended(here.tokens.reset())
    expect(await ended(here.tokens.getAccessToken())).toBe('access-1')
  })
})

describe('given a login whose number its manager has not received', () => {
  it('when the record is lost during a refresh elsewhere, then its logout ends it anyway', async () => {
    const { clock, register, here, there, ended, tokenOf } = processes(person, 'private')
    const replace = register.replace.bind(register)
    register.replace = async (...given) => {
      await replace(...given)
      throw new Error('cut')
    }
    await ended(here.tokens.adopt(grant('bob')))
    register.replace = replace
    await ended(here.tokens.getAccessToken())
    await clock.advance(59_000)
    there.source.takesMs = 2_000
    const refreshed = there.tokens.getAccessToken()
    await clock.advance(1_000)
    register.values.clear()
    const next = await ended(refreshed)
    await ended(here.tokens.logout())
    expect([here.source.revoked, await tokenOf(here), await tokenOf(there)]).toEqual([
      [next],
      'logged-out',
      'logged-out',
    ])
  })

  it('when its manager has renewed privately and stored the tokens under another number, then other processes get their next token (F332)', async () => {
    const clock = manualClock()
    const shared = new MemoryRegister(clock)
    let reads = 0
    let is: 'well' | 'cut' | 'away' = 'cut'
    const away = () => Promise.reject(new Error('away'))
    const own: TokenRegister = {
      kind: 'own',
      read: (key) => (is === 'away' ? away() : shared.read(key)),
      async replace(...given) {
        if (is === 'away') return away()
        const replaced = await shared.replace(...given)
        if (is === 'well') return replaced
        is = 'away'
        return away()
      },
    }
    const others: TokenRegister = {
      kind: 'others',
      // A loop without a pause would never end.
      read: (key) => ((reads += 1) > 1_000 ? new Promise(() => undefined) : shared.read(key)),
      replace: (...given) => shared.replace(...given),
    }
    const processOn = (register: TokenRegister) =>
      manage(
        new LoginSource(person),
        { store: sharedStore(register), storeKey: 'a', renewal: { keepWarm: 'never' } },
        clock,
      )
    const [here, there] = [processOn(own), processOn(others)]
    const asked = async ({ tokens }: typeof here) => {
      const got = outcome(tokens.getAccessToken())
      await clock.advance(5_000)
      return got
    }
    const { subject: _, ...unnamed } = grant('bob')
    const adopted = outcome(here.tokens.adopt(unnamed))
    await clock.advance(5_000)
    await adopted
    expect(await asked(there)).toBe('bob')
    await clock.advance(50_000)
    expect(await asked(here)).toBe('access-1')
    is = 'well'
    await clock.advance(30_000)
    expect(await asked(here)).toBe('access-1')
    await clock.advance(61_000)
    expect(await asked(there)).toMatch(/^access-/)
    expect(reads).toBeLessThan(50)
  })
})

describe('given a register whose clock was set back, and a login that it executes late', () => {
  it('when its logout is reported at last, then no owner has that login (F331)', async () => {
    const clock = manualClock()
    let behindMs = 0
    const register = new Register({ wallNow: () => clock.wallNow() - behindMs })
    const { here, there, acquire } = twoOwners(register, clock)
    const { login, version } = await there.adopt(0, CAROL)
    await there.clear(version, { login })
    behindMs = 3_600_000
    register.isAway = true
    await here.adopt(0, BOB).catch(() => undefined)
    await here.clear(0, { loginId: BOB.loginId }).catch(() => undefined)
    register.isAway = false
    await there.adopt(0, BOB)
    await acquire(0)
    expect(await there.check?.(0)).toMatchObject(LOGGED_OUT)
  })
})
