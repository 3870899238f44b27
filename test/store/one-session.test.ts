import { describe, expect, it } from '@jest/globals'
import { TokenError, type ExchangeContext, type TokenGrant, type TokenSource } from '../../src/index.ts'
import { type SharedStoreOptions, sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manage, type Managed, outcome } from '../support/managed.ts'
import { dice } from '../../scripts/lib/dice.mjs'
import { part } from '../support/part.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'

const COMMAND_TIMEOUT_MS = 250

/** A service where an obtain ends the earlier session of the account. Its responses take time. */
class OneSession implements TokenSource {
  readonly id = 'one-session'
  readonly #clock: ManualClock
  readonly #random: () => number
  #issued = 0
  /** The refresh token of the current session, good for one use. */
  #current = ''
  obtains = 0
  refused = 0

  constructor(clock: ManualClock, random: () => number) {
    this.#clock = clock
    this.#random = random
  }

  async obtain({ signal }: ExchangeContext): Promise<TokenGrant> {
    this.obtains += 1
    return this.#answer(() => this.#issue(), signal)
  }

  async refresh(refreshToken: string, { signal }: ExchangeContext): Promise<TokenGrant> {
    return this.#answer(() => (refreshToken === this.#current ? this.#issue() : undefined), signal)
  }

  #issue(): TokenGrant {
    this.#issued += 1
    this.#current = `refresh-${this.#issued}`
    const lifetimes = { accessLifetimeMs: 20_000, refreshLifetimeMs: 3_600_000 }
    return { accessToken: `access-${this.#issued}`, refreshToken: this.#current, ...lifetimes }
  }

  /** The request takes time, the service acts, the response takes time. One response in twenty is lost. */
  async #answer(act: () => TokenGrant | undefined, signal: AbortSignal): Promise<TokenGrant> {
    await pause(this.#clock, 400 * this.#random())
    const grant = act()
    await pause(this.#clock, 400 * this.#random())
    signal.throwIfAborted()
    if (this.#random() < 0.05) throw new TokenError('ERR_TOKEN_SERVICE_UNAVAILABLE', 'lost', { outcome: 'unknown' })
    if (grant) return grant
    this.refused += 1
    throw new TokenError('ERR_REFRESH_REJECTED', 'refused', {
      outcome: 'rejected',
      status: 401,
      refreshToken: 'refused',
    })
  }
}

const pause = (clock: ManualClock, ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))

/** One step in ten takes up to four times its limit, one in twenty is executed without a response, one in twenty is lost. */
function troubled(register: TokenRegister, clock: ManualClock, random: () => number): TokenRegister {
  const through = async <Value>(step: () => Promise<Value>): Promise<Value> => {
    const fate = random()
    await pause(clock, fate < 0.1 ? 4 * COMMAND_TIMEOUT_MS * random() : 10 * random())
    if (fate > 0.95) return new Promise<never>(() => undefined)
    const value = await step()
    return fate > 0.9 ? new Promise<never>(() => undefined) : value
  }
  return {
    kind: 'troubled',
    read: (key) => through(() => register.read(key)),
    replace: (...given) => through(() => register.replace(...given)),
  }
}

/** A register that can be unreachable. */
class AwayRegister extends MemoryRegister {
  isAway = false
  reads = 0

  override read(key: string) {
    this.reads += 1
    return this.isAway ? Promise.reject(new Error('away')) : super.read(key)
  }
}

/** Two processes with one token, at a service where an obtain ends earlier sessions. */
async function twoProcesses() {
  const clock = manualClock()
  const service = new OneSession(clock, () => 0.5)
  const register = new AwayRegister(clock)
  const [first, second] = [1, 2].map(() => manage(service as never, { store: sharedStore(register) }, clock)) as [
    Managed,
    Managed,
  ]
  const renewed = async ({ tokens }: Managed) => {
    const renewal = tokens.renew()
    await clock.advance(5_000)
    await renewal
  }
  await renewed(first)
  return { clock, service, register, first, second, renewed }
}

const evidenceOf = ({ observed }: Managed) => observed.suspicious.map(({ evidence }) => evidence)

/** Runs four processes for fifteen minutes. @returns The evidence of all suspicions, successful requests, and obtains. */
async function run(seed: number, onUnavailable: SharedStoreOptions['onUnavailable']) {
  const random = dice(seed).random
  const clock = manualClock()
  const service = new OneSession(clock, random)
  const register = new MemoryRegister(clock)
  const processes = Array.from({ length: 4 }, () => {
    const own = troubled(register, clock, random)
    const store = sharedStore(own, { onUnavailable, commandTimeoutMs: COMMAND_TIMEOUT_MS })
    return manage(service as never, { store, random }, clock)
  })
  let served = 0
  for (let second = 0; second < 900; second += 1) {
    for (const { tokens } of processes)
      void outcome<unknown>(tokens.getAccessToken()).then((got) => (served += Number(typeof got === 'string')))
    await clock.advance(1_000)
  }
  const evidence = processes.flatMap(({ observed }) => observed.suspicious).map((event) => event.evidence)
  return { evidence, served, obtains: service.obtains }
}

describe('given a service where an obtain ends earlier sessions, and a store that responds late or not at all', () => {
  it.each(['fail', 'private'] as const)(
    "when four processes share for fifteen minutes with onUnavailable: '%s', then every rejection is explained (F179)",
    async (onUnavailable) => {
      for (const seed of part([1, 2, 3], [1])) await expectExplained(seed, onUnavailable)
    },
  )

  it('when processes obtain for themselves, then the rejection of a private token is explained, and so is the next one of a shared token (F179)', async () => {
    const { service, register, first, second, renewed } = await twoProcesses()
    register.isAway = true
    for (const process of [first, second, first]) await renewed(process)
    // The obtain of the second process has ended the session of the private tokens of the first.
    expect(evidenceOf(first)).toEqual(['concurrent-use'])
    register.isAway = false
    await renewed(second)
    // Both processes have ended the session of the shared tokens.
    expect(evidenceOf(second)).toEqual(['concurrent-use'])
    expect(service.refused).toBe(2)
  })

  it('when a process has not noticed that, then its rejection is explained anyway, and a later theft is not (F179)', async () => {
    const { clock, service, register, first, second, renewed } = await twoProcesses()
    register.isAway = true
    await renewed(first)
    register.isAway = false
    await clock.advance(5_000)
    // The obtain of the first process has ended the session of the shared tokens.
    await renewed(second)
    expect(evidenceOf(second)).toEqual(['concurrent-use'])
    await renewed(second)
    const theft = service.obtain({ clock, signal: new AbortController().signal })
    await clock.advance(5_000)
    await theft
    await renewed(second)
    expect(evidenceOf(second)).toEqual(['concurrent-use', 'unexplained'])
  })

  it('when the store stays away, then the manager keeps notifying it, until the manager is closed', async () => {
    const { clock, register, first, renewed } = await twoProcesses()
    register.isAway = true
    // The manager tries to notify the store at once, and then every 3 s.
    await renewed(first)
    const { reads } = register
    // Of the 5 s of the renewal, 2 have passed since the last attempt.
    await clock.advance(6_000)
    expect(register.reads - reads).toBe(2)
    await first.tokens.close()
    await clock.advance(600_000)
    expect(register.reads - reads).toBe(2)
    expect(clock.pendingTimers).toBe(0)
  })
})

async function expectExplained(seed: number, onUnavailable: SharedStoreOptions['onUnavailable']): Promise<void> {
  const { evidence, served, obtains } = await run(seed, onUnavailable)
  expect(evidence.filter((one) => one === 'unexplained')).toEqual([])
  expect(obtains).toBeGreaterThan(5)
  expect(served).toBeGreaterThan(3_000)
}
