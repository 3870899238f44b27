import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { createTokenManager, TokenError, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { type LoginManager, person } from '../../src/login/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { delayed, type Delays, drawnFrom } from '../support/drawn-delays.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { patience, runs, usually } from './runs.ts'
import { undisturbed } from './undisturbed.ts'

undisturbed()

type Act = 'bob' | 'logout' | 'reset'

interface Course {
  readonly delays: Delays
  readonly act: Act
  /** From the start of the exchange to the act. */
  readonly actAfterMs: number
  /** From there until another process renews. */
  readonly renewsAfterMs: number
  /** After the exchange, the store executes one more write of this process, and no step after it. */
  readonly isCut: boolean
  readonly isNamed: boolean
}

const courses: fc.Arbitrary<Course> = fc.record({
  delays: fc.record({
    seed: fc.nat(),
    mostMs: fc.constantFrom(10, 60, 200),
    areEqual: fc.constant(false),
  }),
  act: fc.constantFrom<Act>('bob', 'bob', 'logout', 'reset'),
  actAfterMs: fc.nat(400),
  renewsAfterMs: fc.nat(300),
  isCut: fc.boolean(),
  isNamed: fc.boolean(),
})

/** Each refresh token is valid once. Presenting a used one ends the login of its user. */
class Server {
  readonly ended: string[] = []
  readonly revoked: string[] = []
  answered = 0
  readonly #valid = new Map<string, string>()
  readonly #clock: ManualClock
  readonly #takesMs: () => number
  #issued = 0

  constructor(clock: ManualClock, takesMs: () => number) {
    this.#clock = clock
    this.#takesMs = takesMs
  }

  source(): TokenSource {
    return {
      id: 'strict',
      login: person,
      obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in', { outcome: 'not-sent' })),
      refresh: async (refreshToken) => {
        const user = refreshToken.split('|')[0]!
        if (this.#valid.get(user) !== refreshToken) this.ended.push(user)
        const grant = this.grant(user)
        await new Promise<void>((resolve) => this.#clock.setTimer(resolve, this.#takesMs()))
        this.answered += 1
        if (!this.ended.includes(user)) return grant
        throw new TokenError('ERR_REFRESH_REJECTED', 'used before', { outcome: 'rejected', status: 400 })
      },
      revoke: async ({ refreshToken = '' }) => void this.revoked.push(refreshToken),
    }
  }

  /** Whether the last refresh token of a user is revoked. */
  hasRevoked(user: string): boolean {
    return this.revoked.includes(this.#valid.get(user)!)
  }

  grant(user: string): TokenGrant {
    const refreshToken = `${user}|${(this.#issued += 1)}`
    this.#valid.set(user, refreshToken)
    return { accessToken: `access|${refreshToken}`, accessLifetimeMs: 60_000, refreshToken }
  }
}

/** The path of a process to the register, cut off after the first write that follows an answer of the server. */
function cutAfter(way: TokenRegister, server: Server): TokenRegister {
  let isCut = false
  const whole = () => {
    if (isCut) throw new Error('the store is down')
  }
  return {
    kind: way.kind,
    async read(...given) {
      whole()
      return way.read(...given)
    },
    async replace(...given) {
      whole()
      const isReplaced = await way.replace(...given)
      isCut ||= isReplaced && server.answered > 0
      return isReplaced
    },
  }
}

/** One process exchanges the refresh token of Alice, and an act follows there. Two other processes use her login. */
async function servedAfter({ delays, act, actAfterMs, renewsAfterMs, isCut, isNamed }: Course) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const server = new Server(clock, drawnFrom({ ...delays, seed: delays.seed + 9 }))
  const open = (n: number) => {
    const way = delayed(register, clock, { ...delays, seed: delays.seed + n })
    const store = sharedStore(n === 0 && isCut ? cutAfter(way, server) : way, { commandTimeoutMs: 2_000 })
    const tokens = createTokenManager({ source: server.source(), store, clock, random: () => 0.3 }) as LoginManager
    tokens.onAny(() => undefined)
    return tokens
  }
  const [here, there, third] = [open(0), open(1), open(2)]
  const grantOf = (user: string) => ({ ...server.grant(user), ...(isNamed && { subject: user }) })
  await ended(here.adopt(grantOf('alice')))
  await Promise.all([there, third].map((tokens) => ended(tokens.getAccessToken())))
  here.renew().catch(() => undefined)
  await clock.advance(actAfterMs)
  const acted = (act === 'bob' ? here.adopt(grantOf('bob')) : here[act]()).then(
    () => true,
    () => false,
  )
  await clock.advance(renewsAfterMs)
  await ended(Promise.allSettled([there.renew()]))
  const isInRecord = await ended(acted)
  await ended(Promise.allSettled([there.renew(), third.renew()]))
  const isRevoked = server.hasRevoked('alice')
  return { isInRecord, isRevoked, ended: server.ended, there: await userAt(there), third: await userAt(third) }

  async function userAt(tokens: LoginManager): Promise<string> {
    return ended(tokens.getAccessToken()).then(
      (token) => token.split('|')[1]!,
      (error: unknown) => (error as TokenError).code,
    )
  }
  async function ended<Value>(promise: Promise<Value>): Promise<Value> {
    promise.catch(() => undefined)
    await clock.advance(10_000)
    return promise
  }
}

const USUAL = usually(600)

/** The other process renews between the response and the logout in the record: its tokens are the last ones. */
const renewedBefore: Course = {
  delays: { seed: 1_973_944_297, mostMs: 200, areEqual: false },
  act: 'logout',
  actAfterMs: 321,
  renewsAfterMs: 83,
  isCut: false,
  isNamed: false,
}

describe('given an act of a process before the response to its exchange is in the record, and a store whose steps each take their own time', () => {
  it(
    'when another process renews meanwhile, then it never presents the refresh token that was exchanged, whether or not the act reaches the store (I1, F399)',
    () =>
      fc.assert(
        fc.asyncProperty(courses, async (course) => {
          const { isInRecord, isRevoked, ended, there, third } = await servedAfter(course)
          expect(ended).toEqual([])
          const user = !isInRecord ? 'alice' : course.act === 'bob' ? 'bob' : 'ERR_LOGIN_REQUIRED'
          expect([there, third]).toEqual([user, user])
          if (isInRecord && course.act === 'logout') expect(isRevoked).toBe(true)
        }),
        { ...runs(USUAL), examples: [[renewedBefore]] },
      ),
    patience(USUAL),
  )
})
