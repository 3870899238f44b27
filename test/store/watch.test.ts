import { expect, describe, it } from '@jest/globals'
import { type LoginManager, session } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { managerOf, mint } from '../axios/support/tokens.ts'
import { outcome } from '../support/managed.ts'
import { WatchedRegister } from '../support/memory-register.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

/** Two owners, and a service whose response is held. */
function start() {
  const clock = manualClock()
  const register = new WatchedRegister(clock)
  const minted = mint()
  minted.hold()
  const owner = () => managerOf({ ...minted.source, login: session }, { clock, store: sharedStore(register) })
  return { register, minted, first: owner(), second: owner() }
}

describe('given a register that reports changes', () => {
  it('when one owner receives a token, then a waiting owner has it at once, and stops watching (F187)', async () => {
    const { register, minted, first, second } = start()
    const got = first.getAccessToken()
    await settle()
    const waited = second.getAccessToken()
    await settle()
    await settle()
    expect([minted.calls, register.watchers.size]).toEqual([1, 1])
    minted.release()
    // The clock stands still, so no poll is due.
    expect([await got, await waited]).toEqual(['token-1', 'token-1'])
    expect([minted.calls, register.watchers.size]).toEqual([1, 0])
  })

  it('when a user logs out while another owner makes an exchange, then the logout ends as soon as that exchange does', async () => {
    const { register, minted, first, second } = start()
    const got = outcome(first.getAccessToken())
    await settle()
    const ended = (second as LoginManager).logout()
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
