import { describe, expect, it } from '@jest/globals'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'

const UNKNOWN = [
  'store-epoch-unknown',
  expect.stringMatching(
    /^The shared token store is not permitted to report whether it has lost writes: .+ grant the user \+info/,
  ),
]
const RESTORED = [
  'store-restored',
  'The shared token store has failed over, or was restored from a copy, and may have lost writes. No action is needed: processes with newer tokens write them back, and a login that none of them can continue ends with ERR_LOGIN_REQUIRED',
]

/** Two owners of an account in a register of this epoch. */
function start(epoch: string | null | undefined) {
  const clock = manualClock()
  const register = Object.assign(new MemoryRegister(clock), { epoch })
  const { told, ...owners } = twoOwners(register, clock)
  return { register, ...owners, told: () => told.filter(([kind]) => kind !== 'tokens-unencrypted') }
}

describe('given a register that may not report its epoch', () => {
  it('when an owner reads it repeatedly, then that is reported once per owner (F235)', async () => {
    const { here, there, told } = start(null)
    for (let n = 0; n < 3; n += 1) await here.check?.(0)
    expect(told()).toEqual([UNKNOWN])
    await there.check?.(0)
    expect(told()).toEqual([UNKNOWN, UNKNOWN])
  })

  it('when the register stops reporting its epoch, then that is reported', async () => {
    const { register, here, told } = start('one')
    await here.check?.(0)
    register.epoch = null
    await here.check?.(0)
    expect(told()).toEqual([UNKNOWN])
  })

  it.each([undefined, 'one'])('when its epoch is %s, then nothing is reported', async (epoch) => {
    const { here, told } = start(epoch)
    await here.check?.(0)
    expect(told()).toEqual([])
  })
})

describe('given a record that was written in another epoch of the register', () => {
  type Given = [string, boolean, (world: ReturnType<typeof start>) => Promise<unknown>]
  const stored = async ({ acquire, here }: ReturnType<typeof start>, tokens = TOKENS) =>
    here.accept(await acquire(), tokens)
  it.each<Given>([
    ['has a refresh token that may be presented', true, (world) => stored(world)],
    ['has no refresh token', false, (world) => stored(world, { ...TOKENS, refreshToken: undefined })],
    ['has no tokens', false, ({ acquire }) => acquire()],
    [
      'has a refresh token that the service rejected',
      false,
      async (world) => {
        const { version } = await stored(world)
        return world.here.release(await world.acquire(version), { fate: 'dead' })
      },
    ],
    [
      'has a refresh token in doubt',
      false,
      async (world) => {
        const { version } = await stored(world)
        return world.here.release(await world.acquire(version), { fate: 'doubtful' })
      },
    ],
  ])('when it %s, then it is reported as possibly used: %s (F236)', async (_, isTold, write) => {
    const world = start('one')
    await write(world)
    await world.there.check?.(0)
    expect(world.told()).toEqual([])
    world.register.epoch = 'two'
    await world.there.check?.(0)
    expect(world.told()).toEqual(isTold ? [RESTORED] : [])
  })

  it('when the register reported no epoch then, or reports none now, then nothing is reported', async () => {
    const before = start(undefined)
    await stored(before)
    before.register.epoch = 'one'
    await before.there.check?.(0)
    const after = start('one')
    await stored(after)
    after.register.epoch = undefined
    await after.there.check?.(0)
    expect([before.told(), after.told()]).toEqual([[], []])
  })
})

describe('given an exchange whose token set was stored, but whose owner received no response', () => {
  it('when an older copy of the record is restored before the owner stores the token set again, then its refresh token is in doubt (F236)', async () => {
    const world = start('one')
    const { register, here, there } = world
    const claim = await world.acquire()
    const copy = new Map(register.values)
    const replace = register.replace.bind(register)
    register.replace = async (...step) => {
      await replace(...step)
      throw new Error('cut')
    }
    await here.accept(claim, TOKENS)
    register.replace = replace
    const presented = await there.acquire('there', 1, 15_000)
    expect(presented).toMatchObject({ presentable: true, tokens: { refreshToken: 'refresh-1' } })

    for (const [key, stored] of copy) register.values.set(key, stored)
    register.epoch = 'two'
    await here.acquire('here', 0, 15_000)
    expect(await there.acquire('there', 1, 15_000)).toMatchObject({
      presentable: false,
      isDoubted: true,
      tokens: { accessToken: 'access-1' },
    })
  })
})

describe('given a login that was stored, but whose owner received no response', () => {
  const LOGIN = { ...TOKENS, loginId: 'login-1' }

  it.each<[string, string | undefined, boolean]>([
    ['in another epoch', 'two', false],
    ['when the epoch is no longer known', undefined, true],
    ['in the same epoch, from an older copy', 'one', true],
  ])('when it stores the login again %s (%s), then its refresh token may be presented: %s (F236)', async (...row) => {
    const [, epoch, presentable] = row
    const { register, here, there } = start('one')
    const replace = register.replace.bind(register)
    register.replace = async (...step) => {
      await replace(...step)
      throw new Error('cut')
    }
    await here.adopt(0, LOGIN)
    register.replace = replace
    expect(await there.check?.(0)).toMatchObject({ kind: 'newer', tokens: { refreshToken: 'refresh-1' } })

    register.values.clear()
    register.epoch = epoch
    await here.check?.(0)
    const stored = (await there.check?.(0)) as { tokens: StoredTokens }
    expect(stored.tokens).toMatchObject({ accessToken: 'access-1' })
    expect(await there.acquire('there', stored.tokens.version, 15_000)).toMatchObject({ kind: 'granted', presentable })
  })
})
