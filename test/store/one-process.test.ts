import { describe, expect, it } from '@jest/globals'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

/** Counts its replaces. Each step takes a turn of the loop. */
class Counted extends MemoryRegister {
  replaces = 0
  inFlight = 0

  override async read(key: string) {
    await this.#turn()
    return super.read(key)
  }

  override async replace(...given: Parameters<MemoryRegister['replace']>) {
    this.replaces += 1
    await this.#turn()
    return super.replace(...given)
  }

  async #turn(): Promise<void> {
    this.inFlight += 1
    await new Promise(setImmediate)
    this.inFlight -= 1
  }
}

describe('given five hundred owners of one account in one process, with one store', () => {
  it('when all need a token at once, and again when it has expired, then two token requests are made, and no replace is in vain (F238)', async () => {
    const clock = manualClock()
    const register = new Counted(clock)
    // Virtual time may pass while the crypto threads work. No step is late because of that.
    const store = sharedStore(register, { commandTimeoutMs: 60_000 })
    const source = new ScriptedSource({ pairs: true, takesMs: 50 })
    const fleet = Array.from({ length: 500 }, () => manage(source, { store, random: () => 0 }, clock))
    const ask = async () => {
      let served = 0
      for (const { tokens } of fleet) void tokens.getAccessToken().then(() => (served += 1))
      while (served < fleet.length) {
        while (register.inFlight > 0) await settle()
        await clock.advance(50)
      }
    }
    await ask()
    await clock.advance(60_000)
    await ask()
    expect([source.kinds, fleet.flatMap(({ observed }) => observed.storeUnavailable)]).toEqual(['obtain refresh', []])
    // One owner replaces, to acquire and to release the lease. No other owner tries.
    expect(register.replaces).toBe(4)
  })
})
