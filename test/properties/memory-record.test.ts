import { expect, it } from '@jest/globals'
import { LOGIN_RULES } from '../../src/login/login-rules.ts'
import * as fc from 'fast-check'
import { memoryStore } from '../../src/record/memory-store.ts'
import type { LeaseResult, Lease, CheckResult } from '../../src/core/lease.ts'
import type { Identity, StoredTokens } from '../../src/core/stored-tokens.ts'
import type { OpenableStore } from '../../src/core/token-store.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { type OwnRecord, withActs } from '../support/with-acts.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { COOL_DOWN, retries } from './next-steps.ts'
import { runs } from './runs.ts'

const OWNERS = 3
/** No lease expires: managers of one process do not stall one by one. */
const TTL_MS = 3_600_000
const NO_REPORTS = { anomaly: () => undefined, storeUnavailable: () => undefined }

const owner = fc.nat(OWNERS - 1)
const next = fc.oneof(
  fc.constant(undefined),
  retries,
  fc.record({ ...COOL_DOWN, code: fc.constantFrom('ERR_THROTTLED' as const, 'ERR_LOGIN_REQUIRED' as const) }),
)
const terms = fc
  .record({
    graceMs: fc.constantFrom(0, 5_000, Infinity),
    breaksCoolDown: fc.boolean(),
    isOfLogin: fc.boolean(),
  })
  .map(({ isOfLogin, ...given }) => ({ ...given, ...(isOfLogin && { inDoubt: LOGIN_RULES.inDoubt }) }))
const fate = fc.constantFrom('keep' as const, 'counted' as const, 'doubtful' as const, 'dead' as const)
const command = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('claim' as const), owner, terms, names: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('accept' as const), owner, rotates: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('release' as const),
      owner,
      report: fc.record({ fate, shared: next, drops: fc.boolean(), says: fc.constantFrom(undefined, 'a', 'b') }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('end' as const), owner, isReported: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('clear' as const), owner, names: fc.boolean(), isReported: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('adopt' as const),
      owner,
      subject: fc.constantFrom('ann', 'bob', undefined),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('look' as const), owner }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat(30_000) }) },
)
type Command = typeof command extends fc.Arbitrary<infer One> ? One : never

/** What an owner knows of one of the two records: numbers differ between them. */
interface Known {
  version: number
  login: number | undefined
  loginId: string | undefined
  subject: string | undefined
  claim: Lease | undefined
}

/** One of the two records, with the owners as it knows them. */
class Side {
  readonly #record: OwnRecord
  readonly #owners: Known[] = Array.from({ length: OWNERS }, () => ({
    version: 0,
    login: undefined,
    loginId: undefined,
    subject: undefined,
    claim: undefined,
  }))

  constructor(record: OwnRecord) {
    this.#record = record
  }

  /** @param n Names the tokens that the command may return. @returns the owner's result, without numbers */
  async perform(what: Exclude<Command, { do: 'advance' }>, n: number): Promise<unknown> {
    const known = this.#owners[what.owner]!
    const { version, login, claim: lease } = known
    const name = `owner-${what.owner}`
    const lifetimes = { accessLifetimeMs: 60_000, accessRemainingMs: 59_000 }
    const tokens = {
      accessToken: `access-${n}`,
      ...lifetimes,
      refreshToken: `refresh-${n}`,
      refreshRemainingMs: 600_000,
    }
    if (what.do === 'claim') {
      const named = what.names && login !== undefined ? { login } : {}
      return this.#claimed(known, await this.#record.acquire(name, version, TTL_MS, { ...what.terms, ...named }))
    }
    if (what.do === 'end') {
      const answer = this.#claimed(
        known,
        await this.#record.acquireForLogout(name, version, TTL_MS, namedBy(known, what.isReported)),
      )
      // A logout releases nothing.
      known.claim = undefined
      return answer
    }
    if (what.do === 'look') return this.#looked(known, await this.#record.check?.(version, login))
    if (what.do === 'clear') {
      known.claim = undefined
      return this.#stored(known, await this.#record.clear(version, what.names ? namedBy(known, what.isReported) : {}))
    }
    if (what.do === 'adopt') {
      known.claim = undefined
      const { subject } = what
      const brought = { ...tokens, loginId: `login-${n}`, ...(subject !== undefined && { subject }) }
      return this.#stored(known, await this.#record.adopt(version, brought))
    }
    if (!lease) return undefined
    known.claim = undefined
    if (what.do === 'accept') {
      const { refreshToken: _, refreshRemainingMs: __, ...bare } = tokens
      return this.#stored(known, await this.#record.accept(lease, what.rotates ? tokens : bare))
    }
    const { newer, contested } = await this.#record.release(lease, what.report)
    return { contested, newer: newer && withoutNumbers(newer) }
  }

  #claimed(known: Known, answer: LeaseResult): unknown {
    known.claim = answer.kind === 'granted' ? answer : undefined
    if (answer.kind === 'newer') return { kind: 'newer', tokens: this.#stored(known, answer.tokens) }
    if (answer.kind === 'busy') return { kind: 'busy', remainingMs: answer.remainingMs }
    if (answer.kind === 'cooling') return answer
    const { fence: _, version: __, login: ___, epoch: ____, tokens, unclear, ...granted } = answer
    // The two have different clocks.
    return { ...granted, tokens: tokens && withoutNumbers(tokens), unclear: unclear && { ...unclear, at: undefined } }
  }

  #looked(known: Known, looked: CheckResult | undefined): unknown {
    return looked?.kind === 'newer' ? { kind: 'newer', tokens: this.#stored(known, looked.tokens) } : looked
  }

  #stored(known: Known, tokens: StoredTokens | undefined): unknown {
    if (!tokens) return undefined
    known.version = Math.max(known.version, tokens.version)
    known.login = tokens.login ?? known.login
    known.loginId = tokens.loginId
    known.subject = tokens.subject
    return withoutNumbers(tokens)
  }
}

/** How an owner names its login. Until a login is reported, the owner has its own id and the user. */
function namedBy({ login, loginId, subject }: Known, isReported: boolean): Identity {
  return isReported ? { login, loginId } : { loginId: 'of its own', subject }
}

function withoutNumbers({ version: _, login, ...tokens }: StoredTokens): unknown {
  return { ...tokens, isNumbered: login !== undefined }
}

it('given managers of one process, when any of them acquires, releases, logs in or out, then memory returns the same as the shared record', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async (commands) => {
      const clock = manualClock()
      const [memory, shared] = [memoryStore(), sharedStore(new MemoryRegister(clock))].map(
        (store) => new Side(withActs((store as OpenableStore).open('account', clock, NO_REPORTS), clock)),
      )
      for (const [n, what] of commands.entries()) {
        if (what.do === 'advance') await clock.advance(what.ms)
        else expect(await memory!.perform(what, n)).toEqual(await shared!.perform(what, n))
      }
    }),
    runs(300),
  )
})
