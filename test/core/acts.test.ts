import { describe, expect, it } from '@jest/globals'
import { memoryStore, type TokenSource } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import type { ManagerInternals } from '../../src/core/manager-internals.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

/** A source whose tokens only a user can obtain. It records what it was asked to revoke. */
class LoginSource extends ScriptedSource {
  readonly login = person
  readonly revoked: (string | undefined)[] = []

  constructor() {
    super({ pairs: true })
  }

  revoke: TokenSource['revoke'] = ({ refreshToken }) => {
    this.revoked.push(refreshToken)
    return Promise.resolve()
  }
}

/** A register whose steps each take `takesMs` on the clock. */
class SlowRegister extends MemoryRegister {
  takesMs = 0
  readonly #timers: ManualClock

  constructor(clock: ManualClock) {
    super(clock)
    this.#timers = clock
  }

  override async read(key: string) {
    const reading = await super.read(key)
    await this.#passes()
    return reading
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>) {
    await this.#passes()
    return super.replace(...given)
  }

  #passes(): Promise<void> | undefined {
    if (this.takesMs === 0) return undefined
    return new Promise<void>((resolve) => this.#timers.setTimer(resolve, this.takesMs))
  }
}

const login = (name: string, withSubject = false) => ({
  accessToken: name,
  accessLifetimeMs: 60_000,
  refreshToken: `${name}-refresh`,
  ...(withSubject && { subject: name }),
})

/** Two tabs, of the same user or of two, over one store whose steps take 20 ms. */
function twoTabs(options = {}) {
  const clock = manualClock()
  const register = new SlowRegister(clock)
  const store = sharedStore(register)
  const open = () => {
    const source = new LoginSource()
    return { ...manage(source, { store, renewal: { keepWarm: 'never' }, ...options }, clock), source }
  }
  return { clock, register, here: open(), there: open(), open }
}

const follow = (tokens: LoginManager) =>
  (Reflect.get(tokens, Symbol.for('axios-evergreen.TokenManager')) as ManagerInternals).followLogin!()

const changes = ({ observed }: Pick<ReturnType<typeof manage>, 'observed'>) =>
  observed.loginChanged.map(({ login, by, account }) => [login, by, account].join(' '))

describe('given a check of the store in flight (F268)', () => {
  const looking = async (before: (world: ReturnType<typeof twoTabs>) => Promise<void>) => {
    const world = twoTabs()
    await before(world)
    world.register.takesMs = 20
    follow(world.here.tokens)
    await settle()
    return world
  }
  const aliceElsewhere = async ({ there }: ReturnType<typeof twoTabs>) => there.tokens.adopt(login('alice'))
  const logoutElsewhere = async ({ there }: ReturnType<typeof twoTabs>) => {
    await there.tokens.adopt(login('alice'))
    await there.tokens.logout()
  }

  it.each([
    ['with a subject', true],
    ['without a subject', false],
  ])('when Bob logs in here, %s, then no request is sent as the user in the store', async (_, withSubject) => {
    const { clock, here } = await looking(aliceElsewhere)
    const adopted = here.tokens.adopt(login('bob', withSubject))
    await clock.advance(100)
    await adopted
    expect([here.tokens.peekAccessToken(), changes(here)]).toEqual(['bob', ['present here unknown']])
  })

  it.each([0, 5, 15, 40])(
    'when a user logs in here %i ms later, and the store reports a logout, then the login is kept',
    async (ms) => {
      const { clock, here } = await looking(logoutElsewhere)
      await clock.advance(ms)
      const adopted = here.tokens.adopt(login('bob'))
      await clock.advance(200)
      await adopted
      expect([here.tokens.peekAccessToken(), here.tokens.status().login]).toEqual(['bob', 'present'])
    },
  )

  it.each<[string, (tokens: LoginManager) => Promise<unknown>]>([
    ['logs out', (tokens) => tokens.logout()],
    ['resets', (tokens) => tokens.reset()],
  ])('when the user %s here, then no login is restored', async (_, end) => {
    const { clock, here, there } = await looking(aliceElsewhere)
    await clock.advance(100)
    expect(here.tokens.peekAccessToken()).toBe('alice')
    const renewed = there.tokens.renew()
    await clock.advance(200)
    await renewed
    follow(here.tokens)
    const ended = end(here.tokens)
    await clock.advance(300)
    await ended
    expect([here.tokens.peekAccessToken(), changes(here).at(-1)]).toEqual([undefined, 'required here unknown'])
  })

  it('when nothing else happens, then the result of the check applies', async () => {
    const { clock, here } = await looking(aliceElsewhere)
    await clock.advance(40)
    expect(here.tokens.peekAccessToken()).toBe('alice')
  })
})

describe('given calls that follow each other in one turn (F269)', () => {
  const stores = [
    ['alone', undefined],
    ['with a store', true],
  ] as const
  const open = (isShared: true | undefined) => {
    const source = new LoginSource()
    return { ...manage(source, isShared && { store: memoryStore() }), source }
  }

  describe.each(stores)('%s', (_, isShared) => {
    it.each<[string, (tokens: LoginManager) => Promise<unknown>]>([
      ['logout()', (tokens) => tokens.logout()],
      ['reset()', (tokens) => tokens.reset()],
    ])('when a login with a subject is adopted, then %s, then no user is logged in', async (name, end) => {
      const { tokens, source } = open(isShared)
      const acts = [tokens.adopt(login('alice', true)), end(tokens)]
      await Promise.all(acts)
      expect([tokens.peekAccessToken(), tokens.status().login]).toEqual([undefined, 'required'])
      expect(await outcome(tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
      expect(source.revoked).toEqual(name === 'logout()' ? ['alice-refresh'] : [])
    })

    it('when two logins are adopted, then the second one wins, whichever of them has a subject', async () => {
      for (const [first, second] of [
        [true, false],
        [false, true],
        [true, true],
        [false, false],
      ] as const) {
        const { tokens, clock, source } = open(isShared)
        const acts = [tokens.adopt(login('alice', first)), tokens.adopt(login('bob', second))]
        expect(tokens.peekAccessToken()).toBe('bob')
        await Promise.all(acts)
        await clock.advance(60_000)
        await tokens.getAccessToken()
        expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['bob-refresh'])
      }
    })

    it('when a logout waits for an exchange, then a later login takes effect at its call, and is kept', async () => {
      const { tokens, clock, source } = open(isShared)
      await tokens.adopt(login('alice'))
      const late = held(() => source.grant())
      source.script.push(late.answer)
      void outcome(tokens.renew())
      await settle()
      const ended = tokens.logout()
      const begun = tokens.adopt(login('bob', true))
      expect([tokens.peekAccessToken(), tokens.status().login]).toEqual(['bob', 'present'])
      late.open()
      await Promise.all([ended, begun])
      // The exchange in flight replaced the first refresh token.
      expect([tokens.peekAccessToken(), source.revoked]).toEqual(['bob', ['refresh-1']])
      await clock.advance(60_000)
      await tokens.getAccessToken()
      expect(source.calls.at(-1)?.refreshToken).toBe('bob-refresh')
    })
  })

  it('when a user with a subject logs in, then listeners are notified before the store responds', async () => {
    const { here, register, clock } = twoTabs()
    register.takesMs = 20
    const adopted = here.tokens.adopt(login('alice', true))
    await settle()
    expect(changes(here)).toEqual(['present here unknown'])
    await clock.advance(100)
    await adopted
  })

  it('when Alice logs in, then Bob, then Bob logs out and Carol logs in, then each call takes effect at once', async () => {
    const { tokens } = open(true)
    const seen: (string | undefined)[] = []
    const acts = [
      () => tokens.adopt(login('alice', true)),
      () => tokens.adopt(login('bob', true)),
      () => tokens.logout(),
      () => tokens.adopt(login('carol', true)),
    ].map((act) => {
      const done = act()
      seen.push(tokens.peekAccessToken())
      return done
    })
    await Promise.all(acts)
    expect([...seen, tokens.peekAccessToken()]).toEqual(['alice', 'bob', undefined, 'carol', 'carol'])
  })

  it('when the same user logs in again, then waiting callers get the new token at once', async () => {
    const { tokens, clock, source } = open(true)
    await tokens.adopt(login('alice', true))
    source.script.push(() => new Promise(() => undefined))
    await clock.advance(60_000)
    const asked = tokens.getAccessToken()
    await settle()
    const adopted = tokens.adopt({ ...login('alice', true), accessToken: 'alice-2' })
    expect(await asked).toBe('alice-2')
    await adopted
  })
})

describe('given Alice in this tab, and a login of Bob elsewhere', () => {
  const start = async () => {
    const world = twoTabs()
    await world.here.tokens.adopt(login('alice', true))
    await world.there.tokens.adopt(login('bob', true))
    return world
  }
  const afterReload = async ({ open }: ReturnType<typeof twoTabs>) => outcome(open().tokens.getAccessToken())

  it('when this tab logs out, then its own tokens are revoked, and the login of Bob stays (F270)', async () => {
    const world = await start()
    const { here, there } = world
    expect(await here.tokens.logout()).toMatchObject({ revoked: true })
    expect([here.source.revoked, await afterReload(world)]).toEqual([['alice-refresh'], 'bob'])
    expect(await there.tokens.getAccessToken()).toBe('bob')
    expect(changes(here).slice(1)).toEqual(['required here unknown', 'present elsewhere other'])
  })

  it('when this tab is reset, then the login of Bob stays (F270)', async () => {
    const world = await start()
    await world.here.tokens.reset()
    expect(await afterReload(world)).toBe('bob')
    expect(world.here.source.revoked).toEqual([])
    expect(changes(world.here).at(-1)).toBe('present elsewhere other')
  })

  it('when this tab logs out, and a third user logs in here at once, then that login wins', async () => {
    const world = await start()
    const { here } = world
    await Promise.all([here.tokens.logout(), here.tokens.adopt(login('carol', true))])
    expect([here.tokens.peekAccessToken(), await afterReload(world)]).toEqual(['carol', 'carol'])
  })

  it.each([
    ['her token is due', (tokens: LoginManager) => tokens.getAccessToken(), 46_000],
    ['renew() is called', (tokens: LoginManager) => tokens.renew(), 0],
    ['all tokens have expired', (tokens: LoginManager) => tokens.getAccessToken(), 61_000],
  ])(
    'when %s, then her renewal presents no token of Bob, and her logout revokes only her own (F321)',
    async (_, ask, ms) => {
      const world = await start()
      const { clock, register, here, there } = world
      await clock.advance(ms)
      register.takesMs = 20
      const asked = outcome<unknown>(ask(here.tokens))
      await settle()
      const ended = here.tokens.logout()
      await clock.advance(1_000)
      await ended
      await asked
      expect([here.source.calls, here.source.revoked]).toEqual([[], ['alice-refresh']])
      const renewed = there.tokens.renew()
      await clock.advance(1_000)
      await renewed
      expect(there.source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['bob-refresh'])
    },
  )

  it('when her callers wait, then they are rejected with a required login, and later callers get the token of Bob (F321)', async () => {
    const { here } = await start()
    expect(await outcome(here.tokens.renew())).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(here.source.calls).toEqual([])
    expect(await here.tokens.getAccessToken()).toBe('bob')
  })

  it('when her exchange is in flight, and she logs out, then its tokens are revoked, and none of Bob (F321)', async () => {
    const world = twoTabs()
    const { here, there } = world
    await here.tokens.adopt(login('alice', true))
    const late = held(() => here.source.grant())
    here.source.script.push(late.answer)
    const asked = outcome(here.tokens.renew())
    await settle()
    await there.tokens.adopt(login('bob', true))
    const ended = here.tokens.logout()
    late.open()
    expect(await ended).toMatchObject({ revoked: true })
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect([here.source.revoked, await afterReload(world)]).toEqual([['refresh-1'], 'bob'])
  })
})

describe('given a store that was lost, and whose clock was set back (F272)', () => {
  const start = async () => {
    const world = twoTabs()
    await world.here.tokens.adopt(login('alice', true))
    await world.clock.advance(30_000)
    world.register.values.clear()
    world.clock.stepWall(-60_000)
    await world.there.tokens.adopt(login('bob', true))
    return world
  }
  it.each<[string, (tokens: LoginManager) => Promise<unknown>]>([
    ['renews', (tokens) => tokens.renew()],
    ['logs out', (tokens) => tokens.logout()],
    ['is reset', (tokens) => tokens.reset()],
  ])('when an old tab %s, then the new login stays', async (_, act) => {
    const { here, open } = await start()
    await outcome(act(here.tokens))
    expect(await outcome(open().tokens.getAccessToken())).toBe('bob')
    expect(here.source.calls).toEqual([])
  })

  it('when an old tab checks the store, then it finds the new login', async () => {
    const { here } = await start()
    follow(here.tokens)
    await settle()
    expect([here.tokens.peekAccessToken(), changes(here).at(-1)]).toEqual(['bob', 'present elsewhere other'])
  })

  it('when an exchange of the old tab was in flight, then its tokens do not replace the new login', async () => {
    const { here, there, clock, register, open } = twoTabs()
    await here.tokens.adopt(login('alice', true))
    const late = held(() => here.source.grant())
    here.source.script.push(late.answer)
    const asked = outcome(here.tokens.renew())
    await settle()
    register.values.clear()
    clock.stepWall(-60_000)
    await there.tokens.adopt(login('bob', true))
    late.open()
    expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
    expect(await outcome(open().tokens.getAccessToken())).toBe('bob')
  })
})

describe('given an access token that was adopted without a refresh token (F276)', () => {
  it.each<[string, (tokens: LoginManager) => Promise<void>]>([
    ['alone', (tokens) => tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000 })],
    [
      'after an adoption with one',
      async (tokens) => {
        await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' })
        await tokens.adopt({ accessToken: 'a', accessLifetimeMs: 60_000 })
      },
    ],
  ])('when the API rejects it, %s, then a login is required', async (_, adopt) => {
    for (const store of [undefined, memoryStore()]) {
      const { tokens, source } = manage(new LoginSource(), store && { store })
      await adopt(tokens)
      const required = { code: 'ERR_LOGIN_REQUIRED', loginReason: 'refused' }
      expect(await outcome(tokens.replaceAccessToken('a'))).toMatchObject(required)
      expect(await outcome(tokens.getAccessToken())).toMatchObject(required)
      expect(tokens.status()).toMatchObject({ login: 'required', loginReason: 'refused', phase: 'stopped' })
      expect(source.calls).toEqual([])
    }
  })
})
