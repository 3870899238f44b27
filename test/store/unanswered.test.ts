import { describe, expect, it } from '@jest/globals'
import { type RegisterReading, sharedStore } from '../../src/store/index.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

/** A register behind a locked table, or a client without a connection: each step waits. */
class Locked extends MemoryRegister {
  sent = 0
  readonly #waiting: (() => void)[] = []
  #isLocked = true

  /** Whether the lock holds writes only. */
  isReadable = false

  override async read(key: string): Promise<RegisterReading> {
    if (!this.isReadable) await this.#wait()
    return super.read(key)
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>): Promise<boolean> {
    await this.#wait()
    return super.replace(...given)
  }

  async #wait(): Promise<void> {
    this.sent += 1
    if (this.#isLocked) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  unlock(): void {
    this.#isLocked = false
    for (const go of this.#waiting.splice(0)) go()
  }
}

function start(accounts = 1) {
  const clock = manualClock()
  const register = new Locked(clock)
  const store = sharedStore(register)
  const fleet = Array.from({ length: accounts }, (_, n) =>
    manage(new ScriptedSource({ pairs: true }), { store, storeKey: `account ${n}` }, clock),
  )
  /** Each account has requests, once in ten seconds. */
  const use = async (minutes: number) => {
    for (let n = 0; n < 6 * minutes; n += 1) {
      for (const { tokens } of fleet) if (tokens.peekAccessToken() === undefined) void tokens.getAccessToken()
      await clock.advance(10_000)
    }
  }
  return { clock, register, store, fleet, use }
}

describe('given a shared store whose steps wait for their answers', () => {
  it.each([1, 3])(
    'when %d accounts use it for an hour, then four steps wait, and one more each minute',
    async (accounts) => {
      const { register, fleet, use } = start(accounts)
      await use(0.5)
      // Three accounts send their first steps together, before a limit has passed.
      const first = accounts === 1 ? 4 : 6
      expect(register.sent).toBe(first)
      await use(59.5)
      expect(register.sent).toBeLessThanOrEqual(first + 60)
      expect(register.sent).toBeGreaterThanOrEqual(first + 50)
      for (const { tokens } of fleet) expect(tokens.peekAccessToken()).toBeDefined()
    },
  )

  it('when only writes wait, then four of them wait, and one more each minute', async () => {
    const { register, use } = start()
    register.isReadable = true
    await use(0.5)
    expect(register.sent).toBe(4)
    await use(59.5)
    expect(register.sent).toBeLessThanOrEqual(4 + 60)
  })

  it('when the answers come, then it is in use again at once', async () => {
    const { clock, register, store, fleet, use } = start()
    const [{ tokens }] = fleet as [(typeof fleet)[0]]
    await use(0.5)
    await expect(tokens.reset()).rejects.toThrow('the last 4 steps have no answer yet')
    register.unlock()
    await settle()
    await tokens.renew()
    const other = manage(new ScriptedSource(), { store, storeKey: 'account 0' }, clock)
    expect(await other.tokens.getAccessToken()).toBe(tokens.peekAccessToken())
  })
})
