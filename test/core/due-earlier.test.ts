import { describe, expect, it } from '@jest/globals'
import { memoryStore, type TokenGrant } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { type Managed, manage, ScriptedSource } from '../support/managed.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const MINUTE = 60_000
const PERSON = { login: person } as const

/** Access tokens of an hour with refresh tokens of half an hour, like a session that ends when it is idle. */
class ShortSession extends ScriptedSource {
  constructor(changes: Partial<TokenGrant> = {}) {
    super({ pairs: true, lifetimeMs: 60 * MINUTE })
    const grant = this.grant.bind(this)
    this.grant = (more?: Partial<TokenGrant>) => grant({ refreshLifetimeMs: 30 * MINUTE, ...changes, ...more })
  }
}
const login = (changes?: Partial<TokenGrant>) => Object.assign(new ShortSession(changes), PERSON)

async function loggedIn(source: ShortSession, options = {}, time = manualClock()): Promise<Managed> {
  const world = manage(source, { renewal: { keepWarm: 'never' }, ...options }, time)
  await world.tokens.adopt(source.grant())
  return world
}
const minutes = ({ source }: Managed) => source.calls.map(({ at }) => (at - source.calls[0]!.at) / MINUTE)

describe('given a login whose refresh token expires before its access token is due (F347)', () => {
  it('when a request is sent every five minutes for two hours, then none fails, and there are few refreshes', async () => {
    const { clock, source, tokens, observed } = await loggedIn(login())
    for (let minute = 0; minute < 120; minute += 5) {
      await tokens.getAccessToken()
      await clock.advance(5 * MINUTE)
    }
    expect([source.kinds, observed.renewalFailed]).toEqual(['refresh refresh refresh refresh', []])
  })

  it('when there are no requests, then the timer of keepWarm always keeps the login alive', async () => {
    const world = await loggedIn(login(), { renewal: { keepWarm: 'always' } })
    await world.clock.advance(120 * MINUTE)
    expect(minutes(world)).toEqual([0, 22.5, 45, 67.5, 90])
    expect(world.tokens.status()).toMatchObject({ phase: 'fresh', login: 'present' })
  })

  it('when three quarters of its lifetime have passed, then it is due, and not a millisecond before', async () => {
    const { clock, tokens } = await loggedIn(login())
    await clock.advance(22.5 * MINUTE - 1)
    expect(tokens.status().phase).toBe('fresh')
    await clock.advance(1)
    expect(tokens.status().phase).toBe('due')
  })

  it.each([
    ['memory', () => memoryStore()],
    ['a register', (clock: ManualClock) => sharedStore(new MemoryRegister(clock))],
  ])('when another manager finds it in %s, then it is due at the same instant', async (_, storeOf) => {
    const clock = manualClock()
    const store = storeOf(clock)
    const { source } = await loggedIn(login(), { store }, clock)
    await clock.advance(20 * MINUTE)
    const other = manage(source, { store, renewal: { keepWarm: 'never' } }, clock)
    await other.tokens.getAccessToken()
    expect(other.tokens.status().phase).toBe('fresh')
    await clock.advance(2.5 * MINUTE)
    expect(other.tokens.status().phase).toBe('due')
  })

  it('when refreshes return no new refresh token, then the remaining lifetime of the old one counts, and refreshes do not pile up', async () => {
    const { clock, source, tokens } = await loggedIn(login())
    for (let n = 0; n < 99; n += 1)
      source.script.push(() => ({ accessToken: `kept-${n}`, accessLifetimeMs: 60 * MINUTE }))
    for (let minute = 0; minute < 60; minute += 1) {
      await tokens.getAccessToken()
      await clock.advance(MINUTE)
    }
    expect(source.calls.length).toBeLessThanOrEqual(5)
  })

  it('when credentials can obtain the next token set, then only the access token decides', async () => {
    const { clock, tokens } = manage(new ShortSession(), { renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(54 * MINUTE)
    expect(tokens.status().phase).toBe('fresh')
  })
})

describe('given a service that states when to refresh (F377)', () => {
  it.each([
    ['later than the computed instant', { refreshAfterMs: 50_000 }, 45_000],
    ['a string', { refreshAfterMs: '20000' as never }, 45_000],
    ['0', { refreshAfterMs: 0 }, 45_000],
    ['a negative number', { refreshAfterMs: -1 }, 45_000],
    ['NaN', { refreshAfterMs: NaN }, 45_000],
    ['earlier', { refreshAfterMs: 20_000 }, 20_000],
  ])('when it is %s, then renewal is due at the earlier instant', async (_, changes, dueMs) => {
    const source = new ScriptedSource()
    source.script.push(() => source.grant(changes))
    const { clock, tokens } = manage(source, { renewal: { keepWarm: 'never' } })
    await tokens.getAccessToken()
    await clock.advance(dueMs - 1)
    expect(tokens.status().phase).toBe('fresh')
    await clock.advance(1)
    expect([tokens.status().phase, tokens.peekAccessToken()]).toEqual(['due', 'access-1'])
  })

  it('when another process finds the token in the store, then it has that instant too', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    const source = new ScriptedSource()
    source.script.push(() => source.grant({ refreshAfterMs: 20_000 }))
    const options = () => ({ store: sharedStore(register), renewal: { keepWarm: 'never' } }) as const
    const { tokens } = manage(source, options(), clock)
    await tokens.getAccessToken()
    await clock.advance(15_000)
    const other = manage(source, options(), clock)
    await other.tokens.getAccessToken()
    expect(other.tokens.status().phase).toBe('fresh')
    await clock.advance(5_000)
    expect(other.tokens.status().phase).toBe('due')
    expect(source.calls).toHaveLength(1)
  })

  it('when the token is used, then the timer renews it at that instant', async () => {
    const source = new ScriptedSource()
    source.script.push(() => source.grant({ refreshAfterMs: 20_000 }))
    const { clock, tokens } = manage(source)
    await tokens.getAccessToken()
    await clock.advance(20_000)
    expect(source.calls).toHaveLength(2)
  })
})
