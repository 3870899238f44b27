import { describe, expect, it } from '@jest/globals'
import type { ManagerInternals } from '../../src/core/manager-internals.ts'
import { sharedStore, type SharedStoreOptions, type TokenRegister } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { person } from '../../src/login/index.ts'

class LoginSource extends ScriptedSource {
  readonly login = person
  constructor() {
    super({ pairs: true })
  }
}

const GRANT = { accessToken: 'adopted', accessLifetimeMs: 60_000, refreshToken: 'theirs' }
const BOB = { accessToken: 'bob', accessLifetimeMs: 60_000, refreshToken: 'of bob' }
const BEGAN_HERE = { login: 'present', by: 'here', account: 'unknown' }

/** What happens to a step. `execute` runs the step of the register. */
type Hiccup = (execute: () => Promise<unknown>, clock: ManualClock) => Promise<unknown>
const after = (clock: ManualClock, ms: number) => new Promise<void>((resolve) => clock.setTimer(resolve, ms))
const never = () => new Promise<never>(() => undefined)
const late =
  (ms: number): Hiccup =>
  (execute, clock) =>
    after(clock, ms).then(execute)
const answerLost: Hiccup = (execute) => execute().then(never)
const rejected: Hiccup = () => Promise.reject(new Error('cut'))

/** A register that responds after `latencyMs`, with one hiccup. */
class Hiccuping {
  readonly kind = 'hiccuping'
  readonly inner: MemoryRegister
  readonly #clock: ManualClock
  #next: { readonly step: 'read' | 'replace'; readonly hiccup: Hiccup; readonly owner: unknown } | undefined
  isDown = false
  /** The owners that cannot reach it. */
  downFor: ReadonlySet<unknown> = new Set()
  /** How far the register's clock is behind. */
  behindMs = 0

  constructor(clock: ManualClock) {
    this.#clock = clock
    this.inner = new MemoryRegister({ wallNow: () => clock.wallNow() - this.behindMs })
  }

  /** The next step of this kind has the hiccup: of this owner, or of any. */
  meet(step: 'read' | 'replace', hiccup: Hiccup, owner?: unknown): void {
    this.#next = { step, hiccup, owner }
  }

  /** The register as this owner reaches it. */
  linkOf(owner: () => unknown): TokenRegister {
    return {
      kind: this.kind,
      read: (...given) => this.#pass(owner(), 'read', () => this.inner.read(...given)),
      replace: (...given) => this.#pass(owner(), 'replace', () => this.inner.replace(...given)),
    }
  }

  async #pass<Value>(owner: unknown, step: 'read' | 'replace', execute: () => Promise<Value>): Promise<Value> {
    if (this.isDown) throw new Error('down')
    if (this.downFor.has(owner)) throw new Error('cut')
    if (this.#next?.step !== step || (this.#next.owner ?? owner) !== owner) return after(this.#clock, 5).then(execute)
    const { hiccup } = this.#next
    this.#next = undefined
    return (await hiccup(execute, this.#clock)) as Value
  }
}

function start(options: SharedStoreOptions = {}, stepMs = 0) {
  const clock = manualClock()
  const register = new Hiccuping(clock)
  const owner = () => {
    let steppedMs = 0
    const own = { ...clock, monotonicNow: () => clock.monotonicNow(), wallNow: () => clock.wallNow() + steppedMs }
    const store = sharedStore(
      register.linkOf(() => managed),
      options,
    )
    const managed = {
      ...manage(new LoginSource(), { store, storeKey: 'a', renewal: { keepWarm: 'never' } }, own),
      /** Sets the wall clock of this process. */
      step: () => void (steppedMs = stepMs),
    }
    return managed
  }
  const [here, there, third] = [owner(), owner(), owner()]
  /** Waits for a promise, and lets the time pass that it takes. */
  const ended = async <Value>(promise: Promise<Value>, ms = 5_000) => {
    const told = outcome(promise)
    await clock.advance(ms)
    return told
  }
  return { clock, register, here, there, third, ended }
}

const internals = ({ tokens }: ReturnType<typeof manage>) =>
  Reflect.get(tokens, Symbol.for('axios-evergreen.TokenManager')) as ManagerInternals
const presentedBy = ({ source }: ReturnType<typeof manage>) => source.calls.map(({ refreshToken }) => refreshToken)

const HICCUPS: [string, 'read' | 'replace', Hiccup][] = [
  ['the response to a read is late', 'read', late(1_100)],
  ['the response to a read is lost', 'read', answerLost],
  ['a replace is executed late', 'replace', late(3_000)],
  ['a replace is executed, and its response is lost', 'replace', answerLost],
  ['a replace is lost', 'replace', never],
  ['a replace is rejected', 'replace', rejected],
]

describe.each(['private', 'fail'] as const)(
  'given a login that is stored during a hiccup of the store (%s)',
  (onUnavailable) => {
    it.each(HICCUPS)(
      'when %s, and no caller needs a token until the access token has expired, then the login continues as its own (F273)',
      async (_, step, hiccup) => {
        const { clock, register, here, ended } = start({ onUnavailable })
        register.meet(step, hiccup)
        const adopted = await ended(here.tokens.adopt(GRANT))
        // It works here. Whether other processes find it is unknown (F350).
        expect(adopted).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
        await clock.advance(60_000)
        expect(await ended(here.tokens.getAccessToken())).toBe('access-1')
        expect(presentedBy(here)).toEqual(['theirs'])
        expect(here.observed.loginChanged).toEqual([BEGAN_HERE])
      },
    )

    it.each([
      ['read', 999],
      ['replace', 999],
    ] as const)('when the response to a %s takes %d ms, then it is in time (F273)', async (step, ms) => {
      const { register, here, there, ended } = start({ onUnavailable })
      register.meet(step, late(ms))
      expect(await ended(here.tokens.adopt(GRANT))).toBeUndefined()
      expect(here.observed.storeUnavailable).toEqual([])
      expect(await ended(there.tokens.getAccessToken())).toBe('adopted')
      register.meet(step, late(ms))
      expect(await ended(here.tokens.reset())).toBeUndefined()
    })

    it('when another process has renewed it since, then it is recognized anyway (F273)', async () => {
      const { clock, register, here, there, ended } = start({ onUnavailable })
      register.meet('replace', answerLost)
      await ended(here.tokens.adopt(GRANT))
      await clock.advance(60_000)
      expect(await ended(there.tokens.getAccessToken())).toBe('access-1')
      await clock.advance(60_000)
      expect(await ended(here.tokens.getAccessToken())).toBe('access-1')
      expect(presentedBy(here)).toEqual(['refresh-1'])
      expect(here.observed.loginChanged).toEqual([BEGAN_HERE])
    })

    it('when another process has renewed it since, and the manager checks, then it reports no other login (F273)', async () => {
      const { clock, register, here, there, ended } = start({ onUnavailable })
      register.meet('replace', answerLost)
      await ended(here.tokens.adopt(GRANT))
      await clock.advance(60_000)
      await ended(there.tokens.getAccessToken())
      const stop = internals(here).followLogin!()
      await clock.advance(1_000)
      stop()
      expect(here.tokens.peekAccessToken()).toBe('access-1')
      expect(here.observed.loginChanged).toEqual([BEGAN_HERE])
    })

    it('when another user logs in a moment later, and that login is stored and renewed, then it is reported as that of another user', async () => {
      const { clock, register, here, there, ended } = start({ onUnavailable })
      register.meet('replace', never, here)
      const adopted = outcome(here.tokens.adopt(GRANT))
      // More than a reading of the register takes.
      await clock.advance(20)
      await Promise.all([ended(there.tokens.adopt(BOB)), adopted])
      await clock.advance(60_000)
      expect(await ended(there.tokens.getAccessToken())).toBe('access-1')
      expect(presentedBy(there)).toEqual(['of bob'])
      expect(await ended(here.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
      expect(here.observed.loginChanged).toEqual([
        BEGAN_HERE,
        { login: 'present', by: 'elsewhere', account: 'unknown' },
      ])
    })
  },
)

describe('given an unreported login that has replaced another one of this manager', () => {
  it('when the store has the earlier login, and its clock was set back since, then the later login continues, for all processes (F329, F340)', async () => {
    const { clock, register, here, there, ended } = start()
    await ended(here.tokens.adopt(GRANT))
    register.isDown = true
    register.behindMs = 600_000
    await ended(here.tokens.adopt(BOB), 70_000)
    register.isDown = false
    const served = Promise.all([here, there].map(({ tokens }) => outcome(tokens.getAccessToken())))
    await clock.advance(5_000)
    // The other process has found the first login, with an expired access token: its caller belongs to that login.
    expect(await served).toMatchObject(['access-1', { code: 'ERR_LOGIN_REPLACED' }])
    expect(await ended(there.tokens.getAccessToken())).toBe('access-1')
    expect([...presentedBy(here), ...presentedBy(there)]).toEqual(['of bob'])
  })
})

describe('given an unreported login, right after a logout of the same manager', () => {
  it.each([
    ['its clock was set back since', 600_000],
    ['its clock is correct', 0],
  ])('when the store has the logout, and %s, then the login continues (F329)', async (_, behindMs) => {
    const { clock, register, here, ended } = start()
    await ended(here.tokens.adopt(GRANT))
    await ended(here.tokens.logout())
    register.isDown = true
    register.behindMs = behindMs
    await ended(here.tokens.adopt(BOB), 70_000)
    register.isDown = false
    expect(await ended(here.tokens.getAccessToken())).toBe('access-1')
    await clock.advance(1_000)
    expect([here.tokens.status().login, presentedBy(here)]).toEqual(['present', ['of bob']])
  })
})

describe('given two logins that the store did not receive', () => {
  it.each([
    ['earlier', 0],
    ['later', 1],
  ])(
    'when the process of the %s login is the first to reach it, then the later login stays (F330)',
    async (_, first) => {
      const { clock, register, here, there, ended } = start()
      register.isDown = true
      await ended(here.tokens.adopt(GRANT))
      await ended(there.tokens.adopt(BOB))
      register.isDown = false
      const owners = first === 0 ? [here, there] : [there, here]
      for (const one of [...owners, ...owners]) {
        internals(one).followLogin?.()()
        await clock.advance(1_000)
      }
      expect([here, there].map(({ tokens }) => tokens.peekAccessToken())).toEqual(['bob', 'bob'])
    },
  )
})

describe('given two logins that the store did not receive, and a third process', () => {
  const ORDERS = ['earlier', 'later'] as const
  const DEEDS = ['does nothing', 'asks for a token', 'renews the login before'] as const

  it.each(DEEDS.flatMap((deed) => ORDERS.map((order) => [deed, order] as const)))(
    'when it %s, and the process of the %s login is the first to reach the store, then the later login stays, everywhere (F360)',
    async (deed, order) => {
      const { clock, register, here, there, third, ended } = start()
      if (deed === 'renews the login before') await ended(third.tokens.adopt(GRANT), 40_000)
      register.downFor = new Set([here, there])
      const told = ['alice', 'bob'].map((name) => ({ ...GRANT, accessToken: name, refreshToken: `of ${name}` }))
      await ended(here.tokens.adopt(told[0]!))
      await ended(there.tokens.adopt(told[1]!))
      const asked = deed === 'asks for a token' ? ended(third.tokens.getAccessToken()) : undefined
      if (deed === 'renews the login before') await ended(third.tokens.renew())
      await asked
      register.downFor = new Set()
      const owners = order === 'earlier' ? [here, there] : [there, here]
      for (const one of [...owners, ...owners, third]) {
        internals(one).followLogin?.()()
        await clock.advance(2_000)
      }
      expect([here, there, third].map(({ tokens }) => tokens.peekAccessToken())).toEqual(['bob', 'bob', 'bob'])
      expect(presentedBy(third)).toEqual(deed === 'renews the login before' ? ['theirs'] : [])
      expect(there.observed.loginChanged).toEqual([BEGAN_HERE])
    },
  )

  it.each([-30_000, 30_000])(
    "when the wall clock of the later login's process is set by %d ms before that, then that login stays anyway (F360)",
    async (byMs) => {
      const { clock, register, here, there, ended } = start({}, byMs)
      register.isDown = true
      await ended(here.tokens.adopt(GRANT))
      await ended(there.tokens.adopt(BOB))
      there.step()
      register.isDown = false
      for (const one of [there, here, there]) {
        internals(one).followLogin?.()()
        await clock.advance(2_000)
      }
      expect([here, there].map(({ tokens }) => tokens.peekAccessToken())).toEqual(['bob', 'bob'])
    },
  )
})

describe('given a login that is in no record', () => {
  it.each([
    ['another user logs out', 'logout', true],
    ['another manager is reset', 'reset', true],
    ['a process without a login calls logout()', 'logout', false],
    ['a process without a login calls reset()', 'reset', false],
  ] as const)('when %s, then it continues, and its process stores it (F361)', async (_, act, isLoggedIn) => {
    const { clock, register, here, there, third, ended } = start()
    if (isLoggedIn) await ended(there.tokens.adopt(GRANT))
    register.downFor = new Set([here])
    await ended(here.tokens.adopt(BOB))
    await ended<unknown>(there.tokens[act]())
    register.downFor = new Set()
    internals(here).followLogin?.()()
    await clock.advance(2_000)
    expect(here.tokens.peekAccessToken()).toBe('bob')
    expect(await ended(third.tokens.getAccessToken())).toBe('bob')
    expect(here.observed.loginChanged).toEqual([BEGAN_HERE])
  })

  it('when its write was executed, and a process that has it logs out, then it has ended for its own process, too (F361)', async () => {
    const { clock, register, here, there, ended } = start()
    register.meet('replace', answerLost)
    await ended(here.tokens.adopt(BOB))
    expect(await ended(there.tokens.getAccessToken())).toBe('bob')
    await ended(there.tokens.logout())
    internals(here).followLogin?.()()
    await clock.advance(2_000)
    expect(here.tokens.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
  })
})

describe('given a login whose store response is lost', () => {
  it('when it is renewed without the store, then the store receives the new token set, and no process presents the old one again', async () => {
    const { clock, register, here, there, ended } = start()
    register.meet('replace', answerLost)
    await ended(here.tokens.adopt(GRANT))
    register.isDown = true
    await clock.advance(60_000)
    expect(await ended(here.tokens.getAccessToken())).toBe('access-1')
    register.isDown = false
    await clock.advance(60_000)
    expect(await ended(here.tokens.getAccessToken())).toBe('access-2')
    await clock.advance(60_000)
    await ended(there.tokens.getAccessToken())
    expect([...presentedBy(here), ...presentedBy(there)]).toEqual(['theirs', 'refresh-1', 'refresh-2'])
    expect(here.observed.loginChanged).toEqual([BEGAN_HERE])
  })
})
