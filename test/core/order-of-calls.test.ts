import { describe, expect, it } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { memoryStore } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { failing, held, manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

class LoginSource extends ScriptedSource {
  readonly login = person
  constructor() {
    super({ pairs: true })
  }
}

const login = (user: string, number = 1) => ({
  accessToken: `${user}-${number}`,
  accessLifetimeMs: 60_000,
  refreshToken: `${user}-refresh-${number}`,
  subject: user,
})

/** Alice is logged in in three managers of a store. An exchange of the third one is in flight, so a logout of another manager waits for its lease. */
async function startWorld(isShared: boolean) {
  const clock = manualClock()
  const store = isShared ? sharedStore(new MemoryRegister(clock)) : memoryStore()
  const open = () => manage(new LoginSource(), { store, renewal: { keepWarm: 'never' } }, clock)
  const [here, there, third] = [open(), open(), open()]
  await here.tokens.adopt(login('alice'))
  for (const { tokens } of [there, third]) await tokens.getAccessToken()
  const exchange = held(failing(503))
  third.source.script.push(exchange.answer)
  void outcome(third.tokens.renew())
  await clock.advance(10)
  /** Ends the exchange, and returns whom each manager serves then. */
  const served = async (...acts: Promise<unknown>[]) => {
    await clock.advance(1_000)
    void third.tokens.close()
    exchange.open()
    await settle()
    const done = Promise.all(acts)
    await clock.advance(20_000)
    await done
    for (const { tokens } of [here, there]) internalsOf(tokens)?.followLogin?.()()
    await clock.advance(1_000)
    const tokens = Promise.all([here, there].map(({ tokens }) => outcome(tokens.getAccessToken())))
    await clock.advance(1_000)
    return tokens
  }
  return { clock, here, there, served }
}

describe.each([
  ['memoryStore', false],
  ['sharedStore', true],
])('given a manager whose logout waits for the exchange of another manager of a %s', (_, isShared) => {
  it.each([
    ['the same user', login('alice', 2), 'alice-2'],
    ['another user', login('bob'), 'bob-1'],
  ])('when %s logs in elsewhere meanwhile, then that login stays (F363)', async (_, grant, token) => {
    const { clock, here, there, served } = await startWorld(isShared)
    const ended = outcome(here.tokens.logout())
    await clock.advance(100)
    const adopted = outcome(there.tokens.adopt(grant))
    expect(await served(ended, adopted)).toEqual([token, token])
    expect(there.observed.loginChanged.at(-1)).toMatchObject({ login: 'present', by: 'here' })
  })

  it.each([
    ['the same user', login('bob', 2), 'bob-2'],
    ['another user', login('carol'), 'carol-1'],
  ])(
    'when a user logs in here, and then %s logs in elsewhere, then the later login stays (F363)',
    async (_, grant, token) => {
      const { clock, here, there, served } = await startWorld(isShared)
      const ended = outcome(here.tokens.logout())
      await clock.advance(100)
      const earlier = outcome(here.tokens.adopt(login('bob')))
      await clock.advance(100)
      const later = outcome(there.tokens.adopt(grant))
      expect(await served(ended, earlier, later)).toEqual([token, token])
    },
  )

  it('when the later login has ended as well, then nobody is logged in (F363)', async () => {
    const { clock, here, there, served } = await startWorld(isShared)
    const ended = outcome(here.tokens.logout())
    await clock.advance(100)
    const earlier = outcome(here.tokens.adopt(login('bob')))
    await clock.advance(100)
    await there.tokens.adopt(login('carol'))
    const all = await served(ended, earlier, outcome(there.tokens.logout()))
    expect(all).toMatchObject([{ code: 'ERR_LOGIN_REQUIRED' }, { code: 'ERR_LOGIN_REQUIRED' }])
  })

  it('when nobody logs in meanwhile, then nobody is logged in', async () => {
    const { here, served } = await startWorld(isShared)
    expect(await served(outcome(here.tokens.logout()))).toMatchObject([
      { code: 'ERR_LOGIN_REQUIRED' },
      { code: 'ERR_LOGIN_REQUIRED' },
    ])
  })
})
