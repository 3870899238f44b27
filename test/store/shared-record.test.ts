import { describe, expect, it } from '@jest/globals'
import type { Lease } from '../../src/core/lease.ts'
import type { StoredTokens } from '../../src/core/stored-tokens.ts'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { sharedStoreContract } from '../support/token-store-contract.ts'
import { TOKENS, twoOwners } from '../support/two-owners.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'

sharedStoreContract('shared', (clock) => sharedStore(new MemoryRegister(clock)))

/** A register with slow responses. */
class SlowRegister extends MemoryRegister {
  takesMs = 0
  /** Another process is always faster. */
  isTooLate = false
  replaces = 0
  readonly #timers: ManualClock

  constructor(clock: ManualClock) {
    super(clock)
    this.#timers = clock
  }

  override async replace(...what: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    this.replaces += 1
    const replaced = !this.isTooLate && (await super.replace(...what))
    if (this.takesMs > 0) await new Promise<void>((resolve) => this.#timers.setTimer(resolve, this.takesMs))
    return replaced
  }
}

async function claimed() {
  const clock = manualClock()
  const register = new SlowRegister(clock)
  const owners = twoOwners(register, clock, { commandTimeoutMs: 1_000, onUnavailable: 'fail' })
  return { clock, register, record: owners.here, other: owners.there, claim: await owners.acquire() }
}

describe('given new tokens that are stored', () => {
  it.each([
    ['responds after 200 ms', 200, 200],
    ['does not respond within 1 000 ms', 5_000, 1_000],
  ])('when the register %s, then their remaining lifetimes are reduced by that time', async (_, takesMs, olderByMs) => {
    const { clock, register, record, claim: lease } = await claimed()
    register.takesMs = takesMs
    const storing = record.accept(lease, TOKENS)
    await clock.advance(olderByMs)
    expect(await storing).toMatchObject({
      accessRemainingMs: 60_000 - olderByMs,
      refreshRemainingMs: 3_600_000 - olderByMs,
    })
  })

  it('when another owner has cleared the record, then their remaining lifetimes are reduced by the time of the step', async () => {
    const { clock, register, record, other, claim: lease } = await claimed()
    const clearing = other.clear(0)
    await clock.advance(0)
    await clearing
    const read = register.read.bind(register)
    register.read = async (key) => {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 200))
      return read(key)
    }
    const storing = record.accept(lease, TOKENS)
    await clock.advance(200)
    expect(await storing).toMatchObject({ accessToken: 'access-1', accessRemainingMs: 59_800 })
  })
})

describe('given a slow response of the register', () => {
  /** Each direction may count once more: a token that seems older is renewed too early, and never too late. */
  const expectOlder = (tokens: StoredTokens | undefined) => {
    expect(tokens?.accessRemainingMs).toBeGreaterThanOrEqual(59_600)
    expect(tokens?.accessRemainingMs).toBeLessThanOrEqual(59_800)
  }

  it('when a renewal had no result, and another owner has newer tokens, then their lifetimes are reduced by that time', async () => {
    const { clock, register, record, other, claim: lease } = await claimed()
    await clock.advance(20_000)
    const theirs = (await other.acquire('b', 0, 15_000)) as Lease
    await other.accept(theirs, TOKENS)
    register.takesMs = 200
    const released = record.release(lease, { fate: 'keep' })
    await clock.advance(200)
    expectOlder((await released).newer)
  })

  it('when another owner is faster than a release, then the release is decided again, with the current record (F304)', async () => {
    const { clock, record, other, claim: lease } = await claimed()
    await clock.advance(20_000)
    const theirs = (await other.acquire('b', 0, 15_000)) as Lease
    await other.accept(theirs, TOKENS)
    const found: (string | undefined)[] = []
    const answer = await record.release(lease, ({ newer }) => {
      found.push(newer?.accessToken)
      return { fate: 'dead' }
    })
    expect(found).toEqual([undefined, 'access-1'])
    expect(answer.newer).toMatchObject({ accessToken: 'access-1' })
    expect(await other.acquire('b', 1, 15_000)).toMatchObject({ presentable: true })
  })

  it('when tokens of a login are stored, then their lifetimes in the record are reduced by the time before', async () => {
    const { clock, register, record, other } = await claimed()
    await clock.advance(5_000)
    const read = register.read.bind(register)
    register.read = async (key) => {
      const reading = await read(key)
      await new Promise<void>((resolve) => clock.setTimer(resolve, 200))
      return reading
    }
    const adopted = record.adopt(0, TOKENS)
    await clock.advance(200)
    await adopted
    register.read = read
    const found = await other.check?.(0)
    expectOlder(found?.kind === 'newer' ? found.tokens : undefined)
  })

  it('when the step failed, and its response arrives after the limit, then nothing is released', async () => {
    const { clock, register, other } = await claimed()
    await clock.advance(20_000)
    register.isTooLate = true
    register.takesMs = 5_000
    const before = register.replaces
    const claiming = other.acquire('b', 0, 15_000)
    const failed = expect(claiming).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await clock.advance(10_000)
    await failed
    expect(register.replaces - before).toBe(1)
  })
})

describe('given a record that others change all the time', () => {
  it('when an owner was too late sixteen times, then it fails with an error that says so', async () => {
    const { clock, register, other } = await claimed()
    await clock.advance(20_000)
    register.isTooLate = true
    const before = register.replaces
    const failed = expect(other.acquire('b', 0, 15_000)).rejects.toThrow('the record changed 16 times in a row')
    await clock.advance(0)
    await failed
    expect(register.replaces - before).toBe(16)
  })
})
