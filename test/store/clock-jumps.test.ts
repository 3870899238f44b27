import { describe, expect, it } from '@jest/globals'
import { memoryStore, type TokenStore } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { twoOwners } from '../support/two-owners.ts'

/** Two managers on one machine, whose wall clock is that of the register. The refresh of the first is in flight. */
async function refreshing(needsLogin: boolean, memory?: TokenStore) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const source = Object.assign(new ScriptedSource({ pairs: true }), needsLogin && { login: person })
  const owner = () =>
    manage(source, { store: memory ?? sharedStore(register), storeKey: 'a', renewal: { keepWarm: 'never' } }, clock)
  const [a, b] = [owner(), owner()]
  await a.tokens.adopt({ accessToken: 'first', accessLifetimeMs: 60_000, refreshToken: 'refresh-0' })
  await b.tokens.getAccessToken()
  source.takesMs = 2_000
  await clock.advance(61_000)
  const served = outcome(a.tokens.getAccessToken())
  await clock.advance(500)
  return { clock, register, source, owner, b, served }
}

describe('given a refresh in flight, and another owner on the same machine', () => {
  it.each([
    ['a login', true, undefined],
    ['a service account', false, undefined],
    ['a login in memoryStore', true, memoryStore()],
    ['a service account in memoryStore', false, memoryStore()],
  ])(
    'when the wall clock jumps ahead, or the machine sleeps, then the lease does not expire, and there is one exchange (F353, %s)',
    async (_, needsLogin, memory) => {
      const { clock, source, b, served } = await refreshing(needsLogin, memory)
      clock.stepWall(20_000)
      const asked = outcome(b.tokens.getAccessToken())
      await clock.advance(5_000)
      expect([await served, await asked, source.kinds]).toEqual(['access-1', 'access-1', 'refresh'])
    },
  )

  it('when it jumps ahead by more than a token lifetime, then the next token set is refreshed, too, and no refresh token is presented twice (F353)', async () => {
    const { clock, source, b, served } = await refreshing(true)
    clock.stepWall(3_600_000)
    const asked = outcome(b.tokens.getAccessToken())
    await clock.advance(5_000)
    expect([await served, await asked]).toEqual(['access-2', 'access-2'])
    expect(source.calls.map(({ refreshToken }) => refreshToken)).toEqual(['refresh-0', 'refresh-1'])
  })

  it('when the other owner starts after the jump, then the lease counts as expired, because that owner has seen no time pass (F353)', async () => {
    const { clock, register } = await refreshing(false)
    clock.stepWall(3_600_000)
    const { here } = twoOwners(register, clock)
    expect(await here.acquire('later', 0, 15_000)).not.toMatchObject({ kind: 'busy' })
  })

  it('when the owner of the lease is dead and the clock jumps, then the other owner waits for one whole lease, and no longer (F353)', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    const { here, there } = twoOwners(register, clock)
    await here.acquire('dead', 0, 15_000)
    clock.stepWall(20_000)
    expect(await there.acquire('other', 0, 15_000)).toMatchObject({ kind: 'busy', remainingMs: 15_000 })
    await clock.advance(14_999)
    expect(await there.acquire('other', 0, 15_000)).toMatchObject({ kind: 'busy' })
    await clock.advance(1)
    expect(await there.acquire('other', 0, 15_000)).toMatchObject({ kind: 'granted' })
  })

  it('when the clock jumps while the register is read, then the lease does not expire either (F353)', async () => {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    const { here, there } = twoOwners(register, clock)
    await here.acquire('here', 0, 15_000)
    const read = register.read.bind(register)
    register.read = async (key) => {
      clock.stepWall(20_000)
      return read(key)
    }
    expect(await there.acquire('other', 0, 15_000)).toMatchObject({ kind: 'busy', remainingMs: 15_000 })
  })

  it('when the clock drifts by less than a jump, then the lease expires as usual (F353)', async () => {
    const clock = manualClock()
    const { here, there } = twoOwners(new MemoryRegister(clock), clock)
    await here.acquire('here', 0, 15_000)
    await clock.advance(14_000)
    clock.stepWall(1_500)
    expect(await there.acquire('other', 0, 15_000)).toMatchObject({ kind: 'granted' })
  })
})
