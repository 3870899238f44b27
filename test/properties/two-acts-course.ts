import * as fc from 'fast-check'
import { createTokenManager, isTokenError } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { delayed, type Delays } from '../support/drawn-delays.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { delays } from './delays.ts'
import { LastLoginService } from './last-login-service.ts'

type Second = 'bob' | 'logout' | 'reset'

export interface TwoActs {
  readonly delays: Delays
  /** What the manager knows of the login in the record before its two acts. `renews`: another manager renews it meanwhile. */
  readonly before: 'none' | 'known' | 'renews'
  readonly gapMs: number
  readonly second: Second
  readonly isNamed: boolean
  /** The first act is that of the other manager, which this one has seen. The store is away at the second one, and its clock is set back by this many ms. */
  readonly seenMs: number | undefined
}

export const twoActs: fc.Arbitrary<TwoActs> = fc.record({
  delays,
  before: fc.constantFrom('none', 'known', 'renews'),
  gapMs: fc.constantFrom(0, 1, 5, 10, 20, 50, 100, 200),
  second: fc.constantFrom<Second>('bob', 'bob', 'bob', 'logout', 'reset'),
  isNamed: fc.boolean(),
  seenMs: fc.option(fc.constantFrom(0, 30_000, 3_600_000), { nil: undefined, freq: 2 }),
})

/** @returns The users whom the manager of the two acts and a third manager serve afterwards. */
async function servedAfter({ delays, before, gapMs, second, isNamed, seenMs }: TwoActs): Promise<string[]> {
  const clock = manualClock()
  const isSeen = before !== 'none' && seenMs !== undefined
  let [isAway, behindMs] = [false, 0]
  const register = new MemoryRegister({ wallNow: () => clock.wallNow() - behindMs })
  const service = new LastLoginService()
  const open = (n: number) => {
    const way = delayed(register, clock, { ...delays, seed: delays.seed + n })
    const read: typeof way.read = async (...given) =>
      isAway && n === 1 ? Promise.reject(new Error('away')) : way.read(...given)
    const store = sharedStore({ ...way, read }, { commandTimeoutMs: 2_000 })
    return createTokenManager({ source: service, store, clock, random: () => 0.3 })
  }
  const [there, here, third] = [open(0), open(1), open(2)]
  const grantOf = (who: 'bob' | 'carol') => {
    const { subject: _, ...grant } = service.logIn(who).grant
    return isNamed ? { ...grant, subject: who } : grant
  }
  if (before !== 'none') await ended(there.adopt(grantOf('carol')))
  if (before !== 'none') await ended(here.getAccessToken())
  if (before === 'renews') there.renew().catch(() => undefined)
  const first = isSeen ? undefined : here.adopt(grantOf('carol'))
  await clock.advance(gapMs)
  isAway = isSeen
  const last = second === 'bob' ? here.adopt(grantOf('bob')) : here[second]()
  await ended(Promise.allSettled([first, last]))
  if (isSeen) await clock.advance(60_000)
  behindMs = seenMs ?? 0
  isAway = false
  return [await served(here), await served(third)]

  function served(tokens: LoginManager): Promise<string> {
    return ended(tokens.getAccessToken().then(userOf, reasonOf))
  }

  function userOf(token: string): string {
    return service.sessionOf(token)?.who ?? token
  }
  async function ended<Value>(promise: Promise<Value>): Promise<Value> {
    promise.catch(() => undefined)
    await clock.advance(10_000)
    return promise
  }
}

function reasonOf(error: unknown): string {
  return isTokenError(error, 'ERR_LOGIN_REQUIRED') ? 'nobody' : String(error)
}

/** @throws if the earlier act stands. */
export async function laterStands(course: TwoActs): Promise<void> {
  const user = course.second === 'bob' ? 'bob' : 'nobody'
  const served = await servedAfter(course)
  if (served.some((who) => who !== user)) throw new Error(`${user} came last, and ${served.join(' and ')} are served`)
}
