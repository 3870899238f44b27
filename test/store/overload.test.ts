import { describe, expect, it } from '@jest/globals'
import { createTokenManager, type TokenSource } from '../../src/index.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { outcome, ScriptedSource } from '../support/managed.ts'
import { part } from '../support/part.ts'
import { QueuedRegister } from '../support/queued-register.ts'
import { randomFrom } from '../support/random.ts'
import { person } from '../../src/login/index.ts'

const TICK_MS = 50
const ASKS_EACH_MS = 4_000
/** A token of 20 s is due 5 s before its expiry. */
const DUE = 0.75

interface Load {
  readonly accounts: number
  readonly connections: number
  /** How long a connection takes for a statement, ms. */
  readonly takesMs: number
  readonly lifetimeMs?: number
  /** The first tokens are due within this time, just before they would be anyway. Default: evenly over a lifetime. */
  readonly withinMs?: number
  /** How long the register does not respond, from second `STALL_AT` on. */
  readonly stallMs?: number
  readonly seconds?: number
  readonly hasLogin?: boolean
  readonly onUnavailable?: SharedStoreOptions['onUnavailable']
}

const STALL_AT = 10

/** Many accounts in one process over one pool. Every four seconds, a caller needs a token of each account. */
async function run(load: Load) {
  const { accounts, connections, takesMs, lifetimeMs = 20_000, stallMs = 0, seconds = 18, hasLogin = true } = load
  const { onUnavailable, withinMs = lifetimeMs } = load
  const clock = manualClock()
  const register = new QueuedRegister(clock, connections)
  const store = sharedStore(register, { onUnavailable })
  const source: ScriptedSource & TokenSource = Object.assign(
    new ScriptedSource({ pairs: true, lifetimeMs }),
    hasLogin && { login: person },
  )
  const random = randomFrom(7)
  const told: unknown[] = []
  const fleet = Array.from({ length: accounts }, (_, n) => {
    const tokens = createTokenManager({ source, store, storeKey: `account ${n}`, clock, random })
    for (const name of ['anomaly', 'renewalFailed', 'storeUnavailable'] as const)
      tokens.on(name, (event) => name === 'storeUnavailable' && told.push(event))
    return tokens
  })
  // All log in at once. The lifetimes of the first tokens determine when each account is due.
  register.takesMs = takesMs
  const loginsMs = 1_000 + (3 * accounts * takesMs) / connections
  const firstMs = (n: number) => loginsMs / DUE + lifetimeMs - withinMs + (withinMs * (n + 1)) / accounts
  const adopted = fleet.map((tokens, n) =>
    tokens.adopt({ accessToken: `first-${n}`, accessLifetimeMs: firstMs(n), refreshToken: `first-refresh-${n}` }),
  )
  await clock.advance(loginsMs)
  await Promise.all(adopted)
  source.calls.length = 0
  register.statements = 0
  const totals = { asked: 0, refused: 0, waiting: 0 }
  const ask = async (tokens: (typeof fleet)[number]) => {
    totals.asked += 1
    if (tokens.peekAccessToken() !== undefined) return
    totals.waiting += 1
    if (typeof (await outcome(tokens.getAccessToken())) !== 'string') totals.refused += 1
    totals.waiting -= 1
  }
  const turns = ASKS_EACH_MS / TICK_MS
  const bySecond: { readonly refused: number; readonly waiting: number }[] = []
  for (let at = 0, tick = 0; at < seconds; at += 1) {
    if (at === STALL_AT) register.stall(stallMs)
    for (const end = tick + 1_000 / TICK_MS; tick < end; tick += 1) {
      for (let n = tick % turns; n < accounts; n += turns) void ask(fleet[n]!)
      await clock.advance(TICK_MS)
    }
    bySecond.push({ ...totals })
  }
  for (const tokens of fleet) void outcome(tokens.close())
  const { statements } = register
  const calls = source.calls.length
  return { ...totals, calls, statements, perCall: statements / calls, told, bySecond }
}

/** Five seconds after the stall. */
const wellAt = (stallMs: number) => STALL_AT + stallMs / 1_000 + 5

describe('given many logins over one small pool, which is in use for two thirds of the time', () => {
  const STALL_MS = 2_000
  it.each<[string, Load]>([
    ['600 logins', { accounts: 600, connections: 3, takesMs: 16 }],
    ...part<[string, Load][]>(
      [
        ['600 logins, private', { accounts: 600, connections: 3, takesMs: 16, onUnavailable: 'private' }],
        [
          '600 service accounts, private',
          { accounts: 600, connections: 3, takesMs: 16, onUnavailable: 'private', hasLogin: false },
        ],
        ['120 logins with tokens of 4 s', { accounts: 120, connections: 3, takesMs: 16, lifetimeMs: 4_000 }],
        [
          '120 logins with tokens of 4 s, private',
          { accounts: 120, connections: 3, takesMs: 16, lifetimeMs: 4_000, onUnavailable: 'private' },
        ],
      ],
      [],
    ),
  ])(
    'when the database stalls for two seconds (%s), then every request succeeds five seconds later (F295)',
    async (_, given) => {
      const load: Load = { onUnavailable: 'fail', stallMs: STALL_MS, ...given }
      const stalled = await run(load)
      // The same stall of a database with unlimited capacity.
      const itself = await run({ ...load, connections: 50, takesMs: 1 })
      const after = stalled.bySecond[wellAt(STALL_MS) - 1]!
      expect(stalled.refused).toBeLessThanOrEqual(3 * itself.refused)
      expect(after).toMatchObject({ refused: stalled.refused, waiting: 0 })
      // Steps that were in flight during the stall are sent again.
      expect(stalled.perCall).toBeLessThanOrEqual(4)
    },
  )
})
describe('given a database that is in use for nearly nine tenths of the time', () => {
  const LOADS: Load[] = part([1, 3, 10, 50], [1, 10]).flatMap((connections) =>
    part([1, 16, 80], [1, 80]).map((takesMs) => {
      const mostAccounts = (0.89 * connections * 1_000 * 20 * DUE) / (3 * takesMs)
      return { connections, takesMs, accounts: Math.min(60, Math.floor(mostAccounts)), seconds: 16 }
    }),
  )

  it.each(LOADS)(
    'when $connections connections take $takesMs ms, and $accounts logins are due evenly, then a token request costs three steps (F296)',
    async (load) => {
      const { perCall, refused, told } = await run({ ...load, onUnavailable: 'fail' })
      expect({ refused, told }).toEqual({ refused: 0, told: [] })
      expect(perCall).toBeLessThanOrEqual(3.3)
    },
  )

  it.each(LOADS)(
    'when $connections connections take $takesMs ms, and $accounts logins are due in one second, then a token request costs three steps (F296)',
    async (load) => {
      const { perCall, refused, told } = await run({ ...load, onUnavailable: 'private', withinMs: 1_000 })
      expect({ refused, told }).toEqual({ refused: 0, told: [] })
      expect(perCall).toBeLessThanOrEqual(3.3)
    },
  )
})
