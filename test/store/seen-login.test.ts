import { describe, expect, it } from '@jest/globals'
import { internalsOf } from '../../src/core/manager-internals.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { loginOf, LoginSource } from '../support/people.ts'

const HOUR = 3_600_000

/** Bob logs in in B, which has seen the login of Alice: in the millisecond of her login, or after the clock of the store was set back. */
async function start(onUnavailable: 'private' | 'fail', trouble: 'away' | 'lost write', setBackMs: number) {
  const clock = manualClock()
  let behindMs = 0
  const register = new MemoryRegister({ wallNow: () => clock.wallNow() - behindMs })
  let isAway = false
  let losesWrites = false
  const way: TokenRegister = {
    kind: 'trouble',
    read: async (...given) => {
      if (isAway) throw new Error('away')
      return register.read(...given)
    },
    replace: async (...given) => {
      if (isAway || losesWrites) throw new Error('lost')
      return register.replace(...given)
    },
  }
  const open = (to: TokenRegister) =>
    manage(new LoginSource({ pairs: true }), { store: sharedStore(to, { onUnavailable }), storeKey: 'a' }, clock)
  const [a, b] = [open(register), open(way)]
  await a.tokens.adopt(loginOf('alice', 'alice', HOUR))
  expect(await b.tokens.getAccessToken()).toBe('alice')
  behindMs = setBackMs
  if (trouble === 'away') isAway = true
  else losesWrites = true
  const adopted = outcome(b.tokens.adopt(loginOf('bob', 'bob', HOUR)))
  await clock.advance(0)
  const isBack = () => (isAway = losesWrites = false)
  return { a, b, clock, adopted, isBack, late: () => open(register) }
}

const ends = {
  'A logs Alice out': ({ a }) => a.tokens.logout(),
  'A calls reset()': ({ a }) => a.tokens.reset(),
  'A logs Alice out twice': ({ a }) => Promise.all([a.tokens.logout(), a.tokens.logout()]),
  'a process that starts now logs out what is stored': ({ late }) => late().tokens.logout(),
} satisfies Record<string, (world: Awaited<ReturnType<typeof start>>) => Promise<unknown>>

describe.each(['private', 'fail'] as const)(
  'given a manager that has seen a login, and onUnavailable: %s',
  (policy) => {
    it.each(
      (['away', 'lost write'] as const).flatMap((trouble) =>
        [0, 10_000, 2 * HOUR].flatMap((setBackMs) =>
          Object.keys(ends).map((end) => [trouble, setBackMs, end] as const),
        ),
      ),
    )(
      'when another user logs in in it (%s, clock set back by %d ms), and %s, then that login stays, and is stored at last (F401)',
      async (trouble, setBackMs, end) => {
        const world = await start(policy, trouble, setBackMs)
        const { a, b, clock, adopted, isBack, late } = world
        const ended = outcome<unknown>(ends[end as keyof typeof ends](world))
        await clock.advance(1)
        expect(await outcome(b.tokens.getAccessToken())).toBe('bob')
        await clock.advance(40_000)
        isBack()
        internalsOf(b.tokens)?.followLogin?.()()
        await clock.advance(40_000)
        await Promise.all([ended, adopted])
        const served = [b, a, late()].map(({ tokens }) => outcome(tokens.getAccessToken()))
        await clock.advance(5_000)
        expect((await Promise.all(served))[0]).toBe('bob')
        expect(await outcome(late().tokens.getAccessToken())).toBe('bob')
        expect(b.observed.loginChanged.filter(({ login }) => login === 'required')).toEqual([])
      },
    )
  },
)
