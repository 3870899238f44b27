import { describe, expect, it } from '@jest/globals'
import { createTokenManager } from '../../src/index.ts'
import { type RegisterReading, sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { manualClock, type ManualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

/** A register that responds to each step after `latencyMs`, or not at all. */
class Slow extends MemoryRegister {
  latencyMs = 10
  isSilent = false
  sent = 0
  inFlight = 0
  mostInFlight = 0
  readonly #own: ManualClock

  constructor(clock: ManualClock) {
    super(clock)
    this.#own = clock
  }

  override async read(key: string): Promise<RegisterReading> {
    await this.#pass()
    return super.read(key)
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    await this.#pass()
    return super.replace(...given)
  }

  async #pass(): Promise<void> {
    this.sent += 1
    this.inFlight += 1
    this.mostInFlight = Math.max(this.mostInFlight, this.inFlight)
    if (this.isSilent) await new Promise<never>(() => undefined)
    await new Promise<void>((resolve) => this.#own.setTimer(resolve, this.latencyMs))
    this.inFlight -= 1
  }
}

function start(accounts: number, options: SharedStoreOptions = {}) {
  const clock = manualClock()
  const register = new Slow(clock)
  const store = sharedStore(register, options)
  const fleet = Array.from({ length: accounts }, (_, n) =>
    manage(new ScriptedSource({ pairs: true }), { store, storeKey: `account ${n}` }, clock),
  )
  return { clock, register, fleet, reports: () => fleet.flatMap(({ observed }) => observed.storeUnavailable) }
}

describe('given a thousand accounts in one process that start at once', () => {
  it('when the store is healthy, then at most fifty steps are in flight, no outage is reported, and all records are stored (F238)', async () => {
    const { clock, register, fleet, reports } = start(1_000)
    const served = Promise.all(fleet.map(({ tokens }) => tokens.getAccessToken()))
    // 3 000 steps of 10 ms, up to 50 at once: longer than the limit of any step.
    while (register.values.size < 1_000 || register.inFlight > 0) await clock.advance(10)
    await served
    expect(register.mostInFlight).toBeLessThanOrEqual(50)
    expect(reports()).toEqual([])
    expect(fleet.map(({ source }) => source.kinds)).toEqual(fleet.map(() => 'obtain'))
  })

  it('when the store does not respond, then all callers get an error after twice the limit of the first steps', async () => {
    const { clock, register, fleet, reports } = start(1_000, { onUnavailable: 'fail' })
    register.isSilent = true
    const observed = Promise.all(fleet.map(({ tokens }) => outcome(tokens.getAccessToken())))
    await clock.advance(2_000)
    for (const error of await observed) expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(reports()).toHaveLength(1_000)
    expect(register.sent).toBeLessThanOrEqual(50)
  })
})

describe('given a store that has fallen silent', () => {
  it('when the accounts keep trying, then at most four steps are pending, and each is abandoned after five seconds (F237)', async () => {
    const { clock, register, fleet } = start(20, { onUnavailable: 'fail' })
    register.isSilent = true
    const ask = () => Promise.all(fleet.map(({ tokens }) => outcome(tokens.reset())))
    const asked = ask()
    await clock.advance(2_000)
    await asked
    expect(register.sent).toBe(4)
    expect(await ask()).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining('the last 4 steps have had no response yet') as unknown,
      }),
    )
    expect(register.sent).toBe(4)
    await clock.advance(3_000)
    for (let round = 2; round <= 5; round += 1) {
      const again = ask()
      await clock.advance(4_999)
      await again
      await ask()
      expect(register.sent).toBe(4 * round)
      await clock.advance(1)
    }
  })

  it('when it responds again, then it is used again at once', async () => {
    const { clock, register, fleet } = start(1, { onUnavailable: 'fail' })
    const [{ tokens }] = fleet as [(typeof fleet)[0]]
    register.isSilent = true
    const first = outcome(tokens.reset())
    await clock.advance(1_000)
    expect(await first).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    register.isSilent = false
    const second = outcome(tokens.reset())
    await clock.advance(50)
    expect(await second).toBeUndefined()
  })
})

describe('given a process that is too busy to read its responses', () => {
  /** Responds to one step per turn of the loop, and keeps the loop busy. Each response is in time. */
  class Queue extends MemoryRegister {
    readonly #next: (() => void)[] = []

    override async read(key: string): Promise<RegisterReading> {
      await this.#turn()
      return super.read(key)
    }

    override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
      await this.#turn()
      return super.replace(...given)
    }

    #turn(): Promise<void> {
      return new Promise((resolve) => {
        this.#next.push(resolve)
        if (this.#next.length === 1) setImmediate(() => this.#work())
      })
    }

    #work(): void {
      for (const until = performance.now() + 15; performance.now() < until;);
      this.#next.shift()?.()
      if (this.#next.length > 0) setImmediate(() => this.#work())
    }
  }

  it('when twelve owners of one account read their responses late, then no outage is reported, and there is one token request (F238)', async () => {
    const register = new Queue()
    const source = new ScriptedSource({ pairs: true })
    const observed: string[] = []
    const fleet = Array.from({ length: 12 }, () => {
      const tokens = createTokenManager({ source, store: sharedStore(register, { commandTimeoutMs: 50 }) })
      tokens.on('storeUnavailable', ({ message }) => observed.push(message))
      return tokens
    })
    const got = await Promise.all(fleet.map((tokens) => tokens.getAccessToken()))
    expect([observed, new Set(got).size, source.kinds]).toEqual([[], 1, 'obtain'])
    for (const tokens of fleet) await tokens.close()
    await settle()
  })
})

describe('given logins whose lease requests have timed out', () => {
  it('when they try again, then each has waited for a random time of one to two seconds (F295)', async () => {
    const clock = manualClock()
    const register = new Slow(clock)
    register.isSilent = true
    const store = sharedStore(register, { onUnavailable: 'fail' })
    const rests: number[] = []
    for (const chance of [0, 0.25, 0.999]) {
      const options = { store, storeKey: `account ${chance}`, random: () => chance }
      const { tokens } = manage(new ScriptedSource(), options, clock)
      tokens.on('renewalFailed', ({ nextAttemptAt }) => rests.push(nextAttemptAt - clock.wallNow()))
      const asked = outcome(tokens.getAccessToken())
      await clock.advance(1_000)
      expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
      await tokens.close()
    }
    expect(rests).toEqual([1_000, 1_250, 1_999])
  })
})
