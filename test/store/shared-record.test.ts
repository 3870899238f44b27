import { describe, expect, it } from '@jest/globals'
import type { GrantedClaim, NewTokens, OpenableStore, TokenRecord } from '../../src/core/token-store.ts'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manualClock, type ManualClock } from '../../src/testing/manual-clock.ts'

const TOKENS: NewTokens = {
  accessToken: 'access-1',
  accessLifetimeMs: 60_000,
  accessRemainingMs: 60_000,
  refreshToken: 'refresh-1',
  refreshRemainingMs: 3_600_000,
}

/** A register that takes time to reply. */
class SlowRegister extends MemoryRegister {
  takesMs = 0
  readonly #timers: ManualClock

  constructor(clock: ManualClock) {
    super(clock)
    this.#timers = clock
  }

  override async replace(...what: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    const replaced = await super.replace(...what)
    await new Promise<void>((resolve) => this.#timers.setTimer(resolve, this.takesMs))
    return replaced
  }
}

async function claimed() {
  const clock = manualClock()
  const register = new SlowRegister(clock)
  const reports = { anomaly: () => undefined, storeUnavailable: () => undefined }
  const store = sharedStore(register, { commandTimeoutMs: 1_000 }) as OpenableStore
  const [record, other] = [1, 2].map(() => store.open('account', clock, reports)) as [TokenRecord, TokenRecord]
  const claiming = record.claim('a', 0, 15_000)
  await clock.advance(0)
  return { clock, register, record, other, claim: (await claiming) as GrantedClaim }
}

describe('given new tokens that are stored', () => {
  it.each([
    ['answers after 200 ms', 200, 200],
    ['gives no answer within 1 000 ms', 5_000, 1_000],
  ])('when the register %s, then they are older by that', async (_, takesMs, olderByMs) => {
    const { clock, register, record, claim } = await claimed()
    register.takesMs = takesMs
    const storing = record.accept(claim, TOKENS)
    await clock.advance(olderByMs)
    expect(await storing).toMatchObject({
      accessRemainingMs: 60_000 - olderByMs,
      refreshRemainingMs: 3_600_000 - olderByMs,
    })
  })

  it('when another owner has cleared the record and it holds no others, then they are older by what that took', async () => {
    const { clock, register, record, other, claim } = await claimed()
    const clearing = other.clear(0)
    await clock.advance(0)
    await clearing
    const read = register.read.bind(register)
    register.read = async (key) => {
      await new Promise<void>((resolve) => clock.setTimer(resolve, 200))
      return read(key)
    }
    const storing = record.accept(claim, TOKENS)
    await clock.advance(200)
    expect(await storing).toMatchObject({ accessToken: 'access-1', accessRemainingMs: 59_800 })
  })
})
