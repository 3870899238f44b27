import { expect, describe, it } from '@jest/globals'
import { sharedStore } from '../../src/store/index.ts'
import { managerOf, mint } from '../axios/support/tokens.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

/** A register that reports changes, like the one of browsers. */
class WatchedRegister extends MemoryRegister {
  readonly watchers = new Set<() => void>()

  override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    const replaced = await super.replace(...given)
    if (replaced) for (const heard of this.watchers) heard()
    return replaced
  }

  watch(onChange: () => void): () => void {
    this.watchers.add(onChange)
    return () => void this.watchers.delete(onChange)
  }
}

describe('given a register that tells of changes', () => {
  it('when one owner gets a token, then another who waits has it at once, and watches no longer (F187)', async () => {
    const clock = manualClock()
    const register = new WatchedRegister(clock)
    const minted = mint()
    minted.hold()
    const [first, second] = [1, 2].map(() => managerOf(minted.source, { clock, store: sharedStore(register) }))
    const got = first!.getAccessToken()
    await settle()
    const waited = second!.getAccessToken()
    await settle()
    await settle()
    expect([minted.calls, register.watchers.size]).toEqual([1, 1])
    minted.release()
    // The clock stands still, so no poll is due.
    expect([await got, await waited]).toEqual(['token-1', 'token-1'])
    expect([minted.calls, register.watchers.size]).toEqual([1, 0])
  })

  it('when somebody logs out while another owner makes an exchange, then the logout ends as soon as that exchange does', async () => {
    const clock = manualClock()
    const register = new WatchedRegister(clock)
    const minted = mint()
    minted.hold()
    const [first, second] = [1, 2].map(() => managerOf(minted.source, { clock, store: sharedStore(register) }))
    const got = outcome(first!.getAccessToken())
    await settle()
    const ended = second!.logout()
    await settle()
    await settle()
    expect([minted.calls, register.watchers.size]).toEqual([1, 1])
    minted.release()
    await got
    // The clock stands still, so no poll is due.
    await ended
    expect([minted.calls, register.watchers.size]).toEqual([1, 0])
  })
})
