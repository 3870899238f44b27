import { describe, expect, it } from '@jest/globals'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { agentAt, caught, connected, finish, loggedIn, loginAt, startWorld } from './login-world.ts'

type Given = NonNullable<Parameters<typeof loginAt>[1]> & { readonly maxWaitMs?: number }

/** Processes with one store, and no login. */
async function processes(registerOf = (register: TokenRegister) => register) {
  const world = await startWorld()
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const login = ({ maxWaitMs = 5_000, ...options }: Given = {}) =>
    loginAt(world, {
      ...options,
      store: sharedStore(registerOf(register)),
      manager: { clock, renewal: { maxWaitMs } },
    })
  return { world, clock, login, one: login() }
}
const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
const said = (error: Promise<unknown>) => caught(error).then(String)

it('given a process that has opened a page, when another one gets a 401, then it waits, and continues after the login (F322)', async () => {
  const { world, clock, login, one } = await processes()
  const [opener, waiting] = [agentAt(world, one), login()]
  expect(await said(opener.connect())).toMatch(/Unauthorized/)
  const agent = agentAt(world, waiting)
  const connected = agent.connect()
  await until(() => clock.pendingTimers > 0)
  await finish(world, one, opener)
  await clock.advance(1_000)
  await connected
  expect([await agent.call('whoami'), waiting.provider.pages, world.counts.registrations]).toEqual(['you', [], 1])
})

it('given a process that has died with its page, when two minutes have passed, then another one opens its page (F394)', async () => {
  const { world, clock, login, one } = await processes()
  expect(await said(agentAt(world, one).connect())).toMatch(/Unauthorized/)
  const next = login({ maxWaitMs: 300_000 })
  const ended: string[] = []
  void said(agentAt(world, next).connect()).then((error) => ended.push(error))
  const hasEnded = () => ended.length > 0
  while (!hasEnded()) {
    await until(() => clock.pendingTimers > 0 || hasEnded())
    if (!hasEnded()) await clock.advance(1_000)
  }
  expect([...ended, next.provider.pages.length]).toEqual([expect.stringMatching(/Unauthorized/), 1])
  expect(clock.monotonicNow()).toBe(120_000)
})

it('given a request that was sent before a login elsewhere, when its 401 arrives after the login, then no page opens, and the request succeeds', async () => {
  const { world, clock, login, one } = await processes()
  let answer = (): void => undefined
  const held = new Promise<void>((resolve) => (answer = resolve))
  let isFirst = true
  let isSent = false
  const late = login({
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      isSent = true
      if (isFirst) await held
      isFirst = false
      return response
    },
  })
  const agent = agentAt(world, late)
  const connected = agent.connect()
  await until(() => isSent)
  await loggedIn(world, one)
  answer()
  await connected
  expect([await agent.call('whoami'), late.provider.pages, world.counts.codes]).toEqual(['you', [], 1])
  expect(clock.monotonicNow()).toBe(manualClock().monotonicNow())
})

it('given a login that has already ended, when a request gets a 401, then it does not wait for the earlier page', async () => {
  const { world, login, one } = await processes()
  await loggedIn(world, one)
  await one.tokens.logout()
  const other = login()
  expect(await said(agentAt(world, other).connect())).toMatch(/Unauthorized/)
  expect(other.provider.pages).toHaveLength(1)
})

describe('given a store that is lost while a request gets a 401', () => {
  const lost = async () => {
    let isDown = false
    const down = () => (isDown ? Promise.reject(new Error('down')) : undefined)
    const given = await processes((register) => ({
      kind: 'fallible',
      read: (key) => down() ?? register.read(key),
      replace: (...given) => down() ?? register.replace(...given),
    }))
    given.world.control.onRefused = () => (isDown = true)
    const opener = agentAt(given.world, given.one)
    expect(await said(opener.connect())).toMatch(/Unauthorized/)
    return { ...given, opener }
  }

  it('then its page opens, and the login works; finishAuth reports that it is not stored (F350)', async () => {
    const { world, one, opener } = await lost()
    expect(one.provider.pages).toHaveLength(1)
    const code = await world.agree(one.provider.pages[0]!)
    expect(await caught(opener.finishAuth(code, world.issuer))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await connected(world, opener)
    expect(await opener.call('whoami')).toBe('you')
  })

  it('when the login is closed, then no timer for the store is left', async () => {
    const { clock, one } = await lost()
    expect(clock.pendingTimers).toBe(1)
    await one.login.close()
    expect(clock.pendingTimers).toBe(0)
  })
})
