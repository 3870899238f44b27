import { describe, expect, it } from '@jest/globals'
import type { NewTokens } from '../../src/core/token-store.ts'
import { isTokenError } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'

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
  const { here, there, claim } = twoOwners(register, clock)
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
    const looked = await there.look?.(0)
    return looked?.kind === 'newer' ? looked.tokens.accessToken : looked
  }
  return { clock, register, here, there, claim, version, login, newer: newer.version, away, logOut, found }
}

const LOGGED_OUT = { kind: 'missing', missing: 'logged-out' }

describe('given a logout that the store could not be told', () => {
  it('when the store is back and the owner claims, then it gets no newer tokens of that login, and nobody has them', async () => {
    const { claim, version, found } = await start()
    expect(await claim(version)).toMatchObject({ kind: 'granted', missing: 'logged-out' })
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the store is back and the owner looks, then nobody has tokens of that login', async () => {
    const { here, version, login, found } = await start()
    expect(await here.look?.(version, login)).toMatchObject(LOGGED_OUT)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the store is away for the first step after it, too, then it is told with the next one', async () => {
    const { here, version, away, claim, found } = await start()
    await away(() => here.look!(version))
    await away(() => claim(version))
    expect(await found()).toBe('access-2')
    await claim(version)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when another owner has renewed the tokens since, then nobody has them either', async () => {
    const { clock, there, claim, version, newer, found } = await start()
    await clock.advance(30_000)
    const granted = await there.claim('there', newer, 15_000)
    if (granted.kind === 'granted') await there.accept(granted, BOB_AGAIN)
    await claim(version)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it.each([
    ['the same person', BOB_AGAIN],
    ['another one', CAROL],
  ])('when %s has logged in there since, then that login stays', async (_, later) => {
    const { clock, there, claim, version, newer, found } = await start()
    await clock.advance(10_000)
    await there.adopt(newer, later)
    await claim(version)
    expect(await found()).toBe(later.accessToken)
  })

  it('when somebody has logged in there since, and the store could not be told of that either, then that login is stored', async () => {
    const { clock, register, there, claim, version, newer, away, found } = await start()
    await clock.advance(10_000)
    await away(() => there.adopt(newer, CAROL))
    await clock.advance(10_000)
    await claim(version)
    expect(register.isAway).toBe(false)
    await there.claim('there', newer, 15_000)
    expect(await found()).toBe('access-3')
  })

  it('when somebody logs in here, then the logout is not told any more', async () => {
    const { here, claim, version, away, found } = await start()
    await away(() => here.adopt(version, BOB_AGAIN))
    await claim(version)
    expect(await found()).toBe('access-2')
  })

  it('when it has been told, then it is not told again', async () => {
    const { here, register, version, found } = await start()
    await here.look?.(version)
    const after = [...register.values]
    await here.look?.(version)
    expect([...register.values]).toEqual(after)
    expect(await found()).toMatchObject(LOGGED_OUT)
  })

  it('when the person tries again, and the store gets that, then it is not told again', async () => {
    const { here, register, version, logOut } = await start()
    await logOut()
    const after = [...register.values]
    await here.look?.(version)
    expect([...register.values]).toEqual(after)
  })

  it('when an exchange from before it ends now, and the store gets its tokens, then they are cleared, too', async () => {
    const clock = manualClock()
    const register = new Register(clock)
    const { here, there, claim } = twoOwners(register, clock)
    const { version, login = 0 } = await here.adopt(0, BOB)
    const granted = await claim(version)
    register.isAway = true
    await here.clear(version, { login }).catch(() => undefined)
    await here.accept(granted, BOB_AGAIN)
    register.isAway = false
    await claim(version)
    expect(await there.look?.(0)).toMatchObject(LOGGED_OUT)
  })
})

class LoginSource extends ScriptedSource {
  readonly needsLogin = true
  readonly revoked: string[] = []
  constructor() {
    super({ pairs: true })
  }
  async revoke({ accessToken }: { accessToken?: string }) {
    this.revoked.push(accessToken!)
  }
}

describe('given two processes, and a login that the store could not be told (F331)', () => {
  const grant = (subject: string, n = '') => ({
    accessToken: `${subject}${n}`,
    accessLifetimeMs: 60_000,
    refreshToken: `refresh-of-${subject}${n}`,
    subject,
  })

  function processes() {
    const clock = manualClock()
    const register = new Register(clock)
    const process = () => {
      const source = new LoginSource()
      const store = sharedStore(register, { onUnavailable: 'fail' })
      return { ...manage(source, { store, storeKey: 'a', renewal: { keepWarm: 'never' } }, clock), source }
    }
    const [here, there] = [process(), process()]
    /** Lets the time pass that it takes. */
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
    return { register, here, there, ended, untold, tokenOf }
  }

  it('when somebody else has logged in since, then the logout ends the untold one alone', async () => {
    const { here, there, ended, untold, tokenOf } = processes()
    await untold(() => here.tokens.adopt(grant('bob')))
    await ended(there.tokens.adopt(grant('carol')))
    expect(await ended(here.tokens.logout())).toEqual({ revoked: true })
    expect([here.source.revoked, await tokenOf(there)]).toEqual([['bob'], 'carol'])
  })

  it('when the logout could not be told either, and is tried again after somebody else has logged in, then that one stays', async () => {
    const { here, there, ended, untold, tokenOf } = processes()
    await untold(() => here.tokens.adopt(grant('bob')))
    await untold(() => here.tokens.logout())
    await ended(there.tokens.adopt(grant('carol')))
    await ended(here.tokens.logout())
    expect([here.source.revoked, await tokenOf(there)]).toEqual([['bob'], 'carol'])
  })

  it.each(['told', 'untold'])(
    'when the person before has logged in again since, then a logout that is %s leaves that login',
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
    'when the store has an older login that nobody here knew, then %s ends that one, too: the untold one would have replaced it',
    async (act) => {
      const { here, there, ended, untold, tokenOf } = processes()
      await ended(there.tokens.adopt(grant('alice')))
      await untold(() => here.tokens.adopt(grant('bob')))
      await ended<unknown>(here.tokens[act]())
      expect([await tokenOf(here), await tokenOf(there)]).toEqual(['logged-out', 'logged-out'])
    },
  )

  it('when the store executes it after its logout, also if the person had tried twice, then the next step here ends it', async () => {
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

describe('given a register whose clock was set back, and a login that it executes late', () => {
  it('when its logout is told at last, then nobody has that login (F331)', async () => {
    const clock = manualClock()
    let behindMs = 0
    const register = new Register({ wallNow: () => clock.wallNow() - behindMs })
    const { here, there, claim } = twoOwners(register, clock)
    const { login, version } = await there.adopt(0, CAROL)
    await there.clear(version, { login })
    behindMs = 3_600_000
    register.isAway = true
    await here.adopt(0, BOB).catch(() => undefined)
    await here.clear(0, { loginId: BOB.loginId }).catch(() => undefined)
    register.isAway = false
    await there.adopt(0, BOB)
    await claim(0)
    expect(await there.look?.(0)).toMatchObject(LOGGED_OUT)
  })
})
