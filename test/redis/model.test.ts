import { expect, it } from '@jest/globals'
import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import type { CoolDown, Lease, RefreshTokenFate, Retry } from '../../src/core/lease.ts'
import type { NewTokens } from '../../src/core/stored-tokens.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { redisStore } from '../../src/redis/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { COOL_DOWN, retries } from '../properties/next-steps.ts'
import { patience, runs } from '../properties/runs.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { onClock } from '../support/redis-clock.ts'
import { type OwnRecord, withActs } from '../support/with-acts.ts'
import { describeSharedRedis, redisOfSuite } from '../support/redis-server.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'

const RUNS = 200
const TTL_MS = 15_000
const reports = { anomaly: () => undefined, storeUnavailable: () => undefined }

/** Which earlier lease. Mostly 0: the last one. */
const back = fc.constantFrom(0, 0, 0, 1, 2)
const next = fc.option(
  fc.oneof(
    retries,
    fc.record({
      ...COOL_DOWN,
      code: fc.constantFrom('ERR_THROTTLED' as const, 'ERR_TOKEN_SERVICE_UNAVAILABLE' as const),
      status: fc.constantFrom(429, 503),
    }),
  ),
  { nil: undefined },
)
const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('claim' as const),
      owner: fc.nat(2),
      ahead: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 2),
      terms: fc.record({ graceMs: fc.constantFrom(0, 0, 5_000, Infinity), breaksCoolDown: fc.boolean() }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('accept' as const), which: back, rotates: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      which: back,
      fate: fc.constantFrom('keep' as const, 'counted' as const, 'doubtful' as const, 'dead' as const),
      next,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), seen: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('adopt' as const), seen: fc.nat(4) }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 400, 5_000, 15_000, 40_000) }),
  },
)
type Command = typeof command extends fc.Arbitrary<infer Value> ? Value : never

/** One record in both stores, and what its owners have read. */
class Twins {
  readonly clock = manualClock()
  /** The same record over a register in memory. */
  readonly #memory: OwnRecord
  readonly #redis: OwnRecord
  readonly #seen = [0, 0, 0]
  readonly #claims: [Lease, Lease][] = []
  #tokens = 0

  constructor(send: (args: string[]) => Promise<unknown>, prefix: string) {
    const redis = redisStore({ client: onClock(send, this.clock), prefix, commandTimeoutMs: 5_000 })
    this.#redis = withActs((redis as OpenableStore).open('account', this.clock, reports), this.clock)
    const store = sharedStore(new MemoryRegister(this.clock)) as OpenableStore
    this.#memory = withActs(store.open('account', this.clock, reports), this.clock)
  }

  async perform(what: Command): Promise<void> {
    if (what.do === 'advance') return this.clock.advance(what.ms)
    if (what.do === 'claim') return this.#claim(what)
    if (what.do === 'clear')
      return void (await Promise.all([this.#memory.clear(what.seen), this.#redis.clear(what.seen)]))
    if (what.do === 'adopt') return this.#adopt(what.seen)
    const claims = this.#claims.at(-1 - what.which)
    if (!claims) return
    if (what.do === 'release') await this.#release(claims, what.fate, what.next)
    else await this.#accept(claims, what.rotates)
  }

  async #claim({ owner, ahead, terms }: Extract<Command, { do: 'claim' }>): Promise<void> {
    const ask = (record: OwnRecord) => record.acquire(`owner-${owner}`, this.#seen[owner]! + ahead, TTL_MS, terms)
    const [expected, answer] = [await ask(this.#memory), await ask(this.#redis)]
    // A register in memory has no epoch.
    expect({ ...answer, epoch: undefined }).toEqual(expected)
    if (expected.kind === 'newer') {
      this.#seen[owner] = expected.tokens.version
      await this.#claim({ do: 'claim', owner, ahead: 0, terms })
    }
    if (expected.kind === 'granted' && answer.kind === 'granted') this.#claims.push([expected, answer])
  }

  async #adopt(seen: number): Promise<void> {
    const tokens = this.#newTokens(true)
    const expected = await this.#memory.adopt(seen, tokens)
    expect(await this.#redis.adopt(seen, tokens)).toEqual(expected)
  }

  #newTokens(rotates: boolean): NewTokens {
    const n = (this.#tokens += 1)
    const access = { accessToken: `access-${n}`, accessLifetimeMs: 60_000, accessRemainingMs: 59_000 }
    return rotates ? { ...access, refreshToken: `refresh-${n}`, refreshRemainingMs: 3_600_000 } : access
  }

  async #accept([ours, theirs]: [Lease, Lease], rotates: boolean): Promise<void> {
    const tokens = this.#newTokens(rotates)
    const expected = await this.#memory.accept(ours, tokens)
    expect(await this.#redis.accept(theirs, tokens)).toEqual(expected)
    // A reply may be lost, and then the step is repeated.
    expect(await this.#redis.accept(theirs, tokens)).toEqual(expected)
  }

  async #release([ours, theirs]: [Lease, Lease], fate: RefreshTokenFate, rest?: Retry | CoolDown): Promise<void> {
    const expected = await this.#memory.release(ours, { fate, shared: rest })
    expect(await this.#redis.release(theirs, { fate, shared: rest })).toEqual(expected)
    expect(await this.#redis.release(theirs, { fate, shared: rest })).toEqual(expected)
  }
}

describeSharedRedis('given any commands of any owners (I16)', () => {
  const redisCommand = redisOfSuite()

  it(
    'then the shared record returns the same as the memory store, and releasing twice is the same as releasing once',
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(command, { minLength: 20, maxLength: 40 }), async (commands) => {
          const twins = new Twins(redisCommand, `model-${randomUUID()}`)
          for (const one of commands) await twins.perform(one)
        }),
        runs(RUNS),
      )
    },
    patience(RUNS),
  )
})
