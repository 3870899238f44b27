import { describe, expect, it } from '@jest/globals'
import { KEPT, type Lease } from '../../src/core/lease.ts'
import type { NewTokens } from '../../src/core/stored-tokens.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'
import { settle } from '../support/watched-clock.ts'

const LOGIN: NewTokens = { ...TOKENS, accessLifetimeMs: 600_000, accessRemainingMs: 600_000, loginId: '1' }
const LATER: NewTokens = { ...LOGIN, accessToken: 'access-2', refreshToken: 'refresh-2', loginId: '2' }

/** A register that can be away, or hold its responses back. */
class Register extends MemoryRegister {
  isAway = false
  reads = 0
  gate: Promise<void> = Promise.resolve()

  override async read(key: string) {
    this.reads += 1
    if (this.isAway) throw new Error('away')
    return super.read(key)
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>) {
    if (this.isAway) throw new Error('away')
    const replaced = await super.replace(...given)
    await this.gate
    return replaced
  }
}

function start() {
  const clock = manualClock()
  const register = new Register(clock)
  const { told, ...owners } = twoOwners(register, clock)
  return { clock, register, ...owners, told: () => told.map(([, message]) => message) }
}

describe('given a login while the store is away', () => {
  /** Logs in after 10 s. The store comes back, and receives the login, after `awayMs` more. */
  async function logIn({ clock, register, here, acquire }: ReturnType<typeof start>, awayMs: number) {
    await clock.advance(10_000)
    register.isAway = true
    await here.adopt(0, LOGIN)
    await clock.advance(awayMs)
    register.isAway = false
    return acquire()
  }

  it('when the store is back, then the remaining lifetime of the shared tokens is reduced by the time that has passed', async () => {
    const world = start()
    await logIn(world, 20_000)
    expect(await world.there.check?.(0)).toMatchObject({
      tokens: { accessToken: 'access-1', accessRemainingMs: 580_000 },
    })
  })

  it('when the store is back, then the lease that shares the login is granted, because this owner already has these tokens', async () => {
    expect(await logIn(start(), 20_000)).toMatchObject({ kind: 'granted', tokens: { accessToken: 'access-1' } })
  })

  it('when another owner had logged out before, then the login is stored anyway', async () => {
    const world = start()
    await world.clock.advance(100_000)
    await world.there.clear(0)
    await logIn(world, 10_000)
    expect(await world.there.check?.(0)).toMatchObject({ tokens: { accessToken: 'access-1' } })
  })

  it('when it is stored later, and the store is away again, then its refresh token is not presented here, because others may have used it', async () => {
    const { register, here, acquire } = start()
    register.isAway = true
    await here.adopt(0, LOGIN)
    register.isAway = false
    await acquire()
    register.isAway = true
    const granted = await acquire()
    expect(granted).toMatchObject({ kind: 'granted', isPrivate: true })
    expect(granted.tokens).toBeUndefined()
  })

  it('when the user logs out before the step has failed, then no owner receives its tokens, not even this one', async () => {
    const { clock, register, here, there, acquire } = start()
    register.gate = new Promise(() => undefined)
    const adopted = here.adopt(0, LOGIN)
    const cleared = here.clear(0).catch(() => undefined)
    await clock.advance(2_000)
    await Promise.all([adopted, cleared])
    register.isAway = true
    expect((await acquire()).tokens).toBeUndefined()
    register.isAway = false
    register.gate = Promise.resolve()
    await there.clear(0)
    await acquire()
    expect(await there.check?.(0)).toMatchObject({ kind: 'missing' })
  })
})

describe('given a login that is being stored, and a later login before the response', () => {
  it('when the later login cannot be stored, then it is stored as soon as the store is back', async () => {
    const { register, here, there, acquire } = start()
    let open: () => void = () => undefined
    register.gate = new Promise((resolve) => (open = resolve))
    const first = here.adopt(0, LOGIN)
    await settle()
    const second = here.adopt(0, LATER)
    open()
    register.isAway = true
    await Promise.all([first, second])
    register.isAway = false
    await acquire(1)
    expect(await there.check?.(0)).toMatchObject({ tokens: { accessToken: 'access-2' } })
  })
})

describe('given a private renewal while the store is away', () => {
  it('when the owner acquires again, then its private tokens count as the tokens that it has seen', async () => {
    const { register, here, acquire } = start()
    register.isAway = true
    await here.accept(await acquire(5), LOGIN)
    expect(await acquire(5)).toMatchObject({ isPrivate: true, tokens: { accessToken: 'access-1', version: 5 } })
  })

  it('when its tokens came from a login, then others receive the new ones later, with the age of the login', async () => {
    const { clock, register, here, there, acquire } = start()
    register.isAway = true
    await here.adopt(0, LOGIN)
    await clock.advance(5_000)
    await here.accept(await acquire(), LATER)
    await clock.advance(5_000)
    register.isAway = false
    await acquire()
    expect(await there.check?.(0)).toMatchObject({
      tokens: { accessToken: 'access-2', refreshToken: 'refresh-2', accessRemainingMs: 595_000 },
    })
  })

  it.each([
    ['doubtful', { isDoubted: true, presentable: false, isLastResort: undefined }],
    ['dead', { isDoubted: false, presentable: false }],
  ] as const)(
    'when its refresh token is %s after it, then it is that in the record, too (F197)',
    async (fate, expected) => {
      const { register, here, acquire } = start()
      register.isAway = true
      await here.adopt(0, LOGIN)
      await here.release(await acquire(), { ...KEPT, fate })
      register.isAway = false
      expect(await acquire()).toMatchObject({ kind: 'granted', tokens: { accessToken: 'access-1' }, ...expected })
    },
  )

  it('when a user logs in before it ends, then others receive the tokens of that login later, not those of the renewal', async () => {
    const { register, here, there, acquire } = start()
    register.isAway = true
    const alone = await acquire()
    await here.adopt(0, LOGIN)
    await here.accept(alone, LATER)
    register.isAway = false
    await acquire()
    expect(await there.check?.(0)).toMatchObject({ tokens: { accessToken: 'access-1' } })
  })

  it('when others have renewed twice before it ends, then the overlap is recorded again', async () => {
    const { clock, register, here, there, acquire } = start()
    register.isAway = true
    const alone = await acquire()
    register.isAway = false
    await clock.advance(3_000)
    const renew = async (version: number) =>
      there.accept((await there.acquire('there', version, 15_000)) as Lease, LOGIN)
    const { version } = await renew((await renew(0)).version)
    expect(await there.acquire('there', version, 15_000)).toMatchObject({ overlapped: false })
    await here.accept(alone, LATER)
    await settle()
    expect(await there.acquire('there', version, 15_000)).toMatchObject({ overlapped: true })
  })
})

describe('given a record that this release cannot use', () => {
  /** The record in the register, with other members. */
  async function startWith(members: object) {
    const world = start()
    await world.there.adopt(0, LOGIN)
    const [[key, { value, until }]] = [...world.register.values] as [[string, { value: string; until: number }]]
    world.register.values.set(key, { value: JSON.stringify({ ...(JSON.parse(value) as object), ...members }), until })
    return world
  }

  it('when a newer release wrote it, then that is reported, and private exchanges are not recorded in it', async () => {
    const { clock, register, here, acquire, told } = await startWith({ schema: 99 })
    await here.accept(await acquire(), LATER)
    expect(told()).toContain('The shared token record cannot be used: a newer release wrote it')
    const before = register.reads
    await clock.advance(30_000)
    expect(register.reads).toBe(before)
  })

  it('when it is not a record, then it counts as absent, and that is reported', async () => {
    const { acquire, told } = await startWith({ box: '{}' })
    expect(await acquire()).toMatchObject({ missing: 'none-yet' })
    expect(told()).toContain('The shared token record counts as absent: it is not a token record')
  })
})
