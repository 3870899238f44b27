import { describe, expect, it } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { manage, type ScriptedSource } from '../support/managed.ts'
import { loginOf, LoginSource } from '../support/people.ts'
import { storeWith } from '../support/store-with.ts'
import { settle } from '../support/watched-clock.ts'

const HOUR = 3_600_000
const login = (name: string, subject?: string) => loginOf(name, subject, HOUR)
const presented = ({ calls }: ScriptedSource) => calls.map(({ refreshToken }) => refreshToken)

/** A step of a store that is executed at its call, and responds when the test opens it. Opening one completes all earlier ones. */
function gates() {
  const waiting: (() => void)[] = []
  const through = async <Value>(value: Value): Promise<Value> => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return value
  }
  return { through, open: () => waiting.splice(0).forEach((resolve) => resolve()), waiting }
}

describe('given two logins in a row, when the work for the first one ends late', () => {
  it('then each login has been reported in the turn of its call (F400)', async () => {
    const { tokens, observed } = manage(new LoginSource({ pairs: true }), {})
    const first = tokens.adopt(login('alice', 'alice'))
    const second = tokens.adopt(login('bob', 'bob'))
    const told = [
      { login: 'present', by: 'here', account: 'unknown' },
      { login: 'present', by: 'here', account: 'other' },
    ]
    await Promise.resolve()
    expect(observed.loginChanged).toEqual(told)
    await Promise.all([first, second])
    await settle()
    expect(observed.loginChanged).toEqual(told)
  })

  it('then the response of its store step does not count as that of the second: a logout ends the second one in the store', async () => {
    const gate = gates()
    const store = storeWith((record) => ({
      adopt: async (...given) => gate.through(await record.adopt(...given)),
    }))
    const here = manage(new LoginSource({ pairs: true }), { store })
    const there = manage(new LoginSource({ pairs: true }), { store }, here.clock)
    const first = here.tokens.adopt(login('alice'))
    await settle()
    const second = here.tokens.adopt(login('bob'))
    gate.open()
    await first
    await settle()
    // The store has the second login already, and another process has renewed it.
    expect(await there.tokens.getAccessToken()).toBe('bob')
    await there.tokens.renew()
    const loggedOut = here.tokens.logout()
    await settle()
    gate.open()
    await Promise.all([second, loggedOut])
    const later = manage(new LoginSource({ pairs: true }), { store }, here.clock)
    await expect(later.tokens.getAccessToken()).rejects.toMatchObject({
      code: 'ERR_LOGIN_REQUIRED',
      loginReason: 'logged-out',
    })
  })
})

it('given a refresh token that a refresh has spent, when the user logs out and logs in with it again, then it is presented: the service decides', async () => {
  const { source, tokens } = manage(new LoginSource({ pairs: true }), {})
  await tokens.adopt({ refreshToken: 'again' })
  await tokens.getAccessToken()
  await tokens.logout()
  await tokens.adopt({ refreshToken: 'again' })
  await tokens.getAccessToken()
  expect(presented(source)).toEqual(['again', 'again'])
})

it('given a check of the store that responds late, when a renewal has returned newer tokens, then they stay', async () => {
  const gate = gates()
  const store = storeWith((record) => ({
    check: async (...given) => gate.through(await record.check?.(...given)),
  }))
  const here = manage(new LoginSource({ pairs: true, lifetimeMs: HOUR }), { store })
  const there = manage(new LoginSource({ pairs: true, lifetimeMs: HOUR }), { store }, here.clock)
  await here.tokens.adopt(login('alice'))
  expect(await there.tokens.getAccessToken()).toBe('alice')
  await there.tokens.renew()
  const checked = internalsOf(here.tokens)?.checkLogin?.()
  await settle()
  expect(gate.waiting).toHaveLength(1)
  here.source.script.push(() => here.source.grant({ accessToken: 'renewed-here' }))
  await here.tokens.renew()
  gate.open()
  await checked
  expect(here.tokens.peekAccessToken()).toBe('renewed-here')
})
