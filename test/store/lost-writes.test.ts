import { describe, expect, it, jest } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import type { TokenError, TokenManagerOptions } from '../../src/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, type ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { StrictService } from '../support/strict-service.ts'

const LIFETIME_MS = 60_000
const NOTICE_MS = 30_000

/** A register that can lose all writes since a moment. */
class Failing extends MemoryRegister {
  epochAt: number | undefined
  writes = 0

  override async read(key: string) {
    return { ...(await super.read(key)), ...(this.epochAt !== undefined && { epochAt: this.epochAt }) }
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    const replaced = await super.replace(...given)
    if (replaced) this.writes += 1
    return replaced
  }

  /** @returns a function that restores the current content, in another epoch */
  snapshot(epoch: string | undefined = 'two') {
    const before = [...this.values]
    return () => {
      this.values.clear()
      for (const [key, value] of before) this.values.set(key, value)
      this.epoch = epoch
    }
  }
}

type Owner = ReturnType<typeof manage>
type Renewal = NonNullable<TokenManagerOptions['renewal']>

async function start(epoch: string | undefined = 'one', renewal: Renewal = {}) {
  const clock = manualClock()
  const register = new Failing(clock)
  register.epoch = epoch
  const service = new StrictService()
  const owner = () =>
    manage(
      service.source() as ScriptedSource,
      { store: sharedStore(register), storeKey: 'a', renewal: { jitter: 0, keepWarm: 'never', ...renewal } },
      clock,
    )
  const [a, b] = [owner(), owner()]
  const ended = async <Value>(promise: Promise<Value>, ms = 2_000) => {
    const told = outcome(promise)
    await clock.advance(ms)
    return told
  }
  await ended(a.tokens.adopt(service.grant()))
  await ended(b.tokens.getAccessToken())
  return { clock, register, service, owner, a, b, ended }
}

/** A renews, and the store loses that write. */
async function lost(epoch?: string, newEpoch: string | undefined = 'two', renewal?: Renewal) {
  const world = await start(epoch, renewal)
  const restore = world.register.snapshot(newEpoch)
  await world.clock.advance(10_000)
  await world.ended(world.a.tokens.renew())
  expect(world.a.tokens.peekAccessToken()).toBe('access-1')
  restore()
  return world
}

const looks = ({ tokens }: Owner) => internalsOf(tokens)!.checkLogin!()
const UNAVAILABLE = expect.objectContaining({ code: 'ERR_STORE_UNAVAILABLE' })

describe('given a store that has lost the last token set of a login, which a live process still has', () => {
  it.each([
    ['a failover', 'one', 'two'],
    ['a restore in the same epoch', 'one', 'one'],
    ['a register without epochs', undefined, undefined],
  ])(
    'when that process checks after %s, then all processes have that token set, and the spent token is not presented (F349)',
    async (_, before, after) => {
      const { clock, service, a, b, ended } = await lost(before, after)
      await ended(looks(a))
      await clock.advance(LIFETIME_MS)
      expect(await ended(b.tokens.getAccessToken())).toBe('access-2')
      expect([service.presented, service.hasEnded]).toEqual([['refresh-0', 'refresh-1'], false])
    },
  )

  it('when that process renews, then the result is the same (F349)', async () => {
    const { clock, service, a, b, ended } = await lost()
    await clock.advance(LIFETIME_MS - 15_000)
    const renewed = outcome(a.tokens.getAccessToken())
    await clock.advance(2_000)
    expect(await renewed).toBe('access-1')
    expect(await ended(b.tokens.getAccessToken())).toBe('access-1')
    await clock.advance(LIFETIME_MS)
    expect(await ended(b.tokens.getAccessToken())).toBe('access-2')
    expect(service.hasEnded).toBe(false)
  })

  it('when the other process needs a token before that, then it waits, its error has retryAt, and it has a token once the token set is back (F349)', async () => {
    const { clock, service, a, b, ended } = await lost()
    await clock.advance(LIFETIME_MS - 15_000)
    const refused = await ended(b.tokens.getAccessToken(), 100)
    expect(refused).toEqual(UNAVAILABLE)
    expect((refused as TokenError).retryAt).toBeGreaterThan(clock.wallNow())
    await ended(looks(a))
    expect(await ended(b.tokens.getAccessToken())).toBe('access-1')
    expect([service.presented, service.hasEnded]).toEqual([['refresh-0'], false])
  })

  it('when the store has been read in the new epoch only, then the wait is one maxStalenessMs from then, and no longer (F349)', async () => {
    const { clock, service, a, b, ended } = await lost()
    await a.tokens.close()
    await clock.advance(LIFETIME_MS)
    expect(await ended(b.tokens.getAccessToken(), 0)).toEqual(UNAVAILABLE)
    await clock.advance(NOTICE_MS)
    expect(await ended(b.tokens.getAccessToken())).toEqual(UNAVAILABLE)
    expect(service.presented).toEqual(['refresh-0'])
    // No process has the token set any more.
    expect(await ended(b.tokens.getAccessToken())).toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
    expect(service.presented).toEqual(['refresh-0', 'refresh-0'])
  })

  it('when callers are refused meanwhile, then retryAt, the event and the status say when the wait ends, and each 2 s the manager asks (F435)', async () => {
    const { clock, register, a, b, ended } = await lost()
    await a.tokens.close()
    await clock.advance(LIFETIME_MS)
    const failed: number[] = []
    b.tokens.on('renewalFailed', ({ nextAttemptAt }) => failed.push(nextAttemptAt))
    const reads = jest.spyOn(register, 'read')
    const readsOf = async () => {
      const before = reads.mock.calls.length
      return [(await ended(b.tokens.getAccessToken(), 0)) as TokenError, reads.mock.calls.length - before] as const
    }
    const [first, asked] = await readsOf()
    const endsAt = first.retryAt!
    // CLOCK_SLACK_MS more than the notice.
    expect(endsAt - clock.wallNow()).toBe(NOTICE_MS + 1_000)
    await clock.advance(1_900)
    const [second, askedTooSoon] = await readsOf()
    await clock.advance(100)
    const [third, askedAgain] = await readsOf()
    expect([second.retryAt, third.retryAt, b.tokens.status().nextAttemptAt]).toEqual([endsAt, endsAt, endsAt])
    expect(new Set(failed)).toEqual(new Set([endsAt]))
    expect([asked > 0, askedTooSoon, askedAgain > 0]).toEqual([true, 0, true])
    await clock.advance(endsAt - clock.wallNow())
    expect(await ended(b.tokens.getAccessToken())).not.toEqual(UNAVAILABLE)
  })

  it('when a third process has an even newer token set, then that one stays (F349)', async () => {
    const { clock, register, service, owner, a, b, ended } = await start()
    const restore = register.snapshot()
    const c = owner()
    await ended(c.tokens.getAccessToken())
    await clock.advance(10_000)
    await ended(a.tokens.renew())
    await ended(c.tokens.renew())
    restore()
    await ended(looks(a))
    await clock.advance(LIFETIME_MS - 20_000)
    expect(await ended(b.tokens.getAccessToken(), 100)).toBe('access-1')
    await ended(looks(c))
    await clock.advance(LIFETIME_MS)
    expect(await ended(b.tokens.getAccessToken())).toBe('access-3')
    expect([service.presented, service.hasEnded]).toEqual([['refresh-0', 'refresh-1', 'refresh-2'], false])
  })
})

describe('given a store that has lost writes', () => {
  it('when the record is gone, then no process writes it back, because a user may have logged out (F349)', async () => {
    const { register, a, ended } = await start()
    register.values.clear()
    register.epoch = 'two'
    await ended(looks(a))
    expect(register.values.size).toBe(0)
  })

  it('when one process has seen the login end, then it ends everywhere (F349)', async () => {
    const { register, owner, a, b, ended } = await start()
    const restore = register.snapshot()
    await ended(a.tokens.logout())
    restore()
    await ended(a.tokens.getAccessToken())
    await ended(looks(b))
    expect(b.tokens.status()).toMatchObject({ login: 'required', loginReason: 'logged-out' })
    expect(await ended(owner().tokens.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
  })

  it('when a user has logged in since, then that login stays (F349)', async () => {
    const { clock, owner, a, ended } = await lost()
    const c = owner()
    await clock.advance(5_000)
    await ended(c.tokens.adopt({ accessToken: 'bob-access', accessLifetimeMs: LIFETIME_MS, refreshToken: 'bob' }))
    await ended(looks(a))
    expect(await ended(owner().tokens.getAccessToken())).toBe('bob-access')
  })

  it('when the register reports when its epoch began, then the wait counts from that instant, and later processes do not wait (F349)', async () => {
    const { clock, register, service, b, ended } = await start()
    const restore = register.snapshot()
    await clock.advance(LIFETIME_MS / 4)
    register.epochAt = clock.wallNow()
    restore()
    await clock.advance(LIFETIME_MS)
    expect(await ended(b.tokens.getAccessToken())).toBe('access-1')
    expect(service.presented).toEqual(['refresh-0'])
  })

  it('when processes check and renew, then each login costs one additional write, once (F349)', async () => {
    const { clock, register, a, b, ended } = await start()
    register.snapshot()()
    const before = register.writes
    for (const one of [a, b, a, b]) await ended(looks(one))
    expect(register.writes - before).toBe(1)
    await clock.advance(LIFETIME_MS)
    await ended(b.tokens.getAccessToken())
    expect(register.writes - before).toBe(3)
  })

  it('when its clock is set back, then no process waits longer (F349)', async () => {
    const { clock, register, b, ended } = await start()
    register.snapshot()()
    await ended(looks(b))
    clock.stepWall(-3_600_000)
    await clock.advance(LIFETIME_MS + 5_000)
    expect(await ended(b.tokens.getAccessToken())).toBe('access-1')
  })
})
