import { describe, expect, it } from '@jest/globals'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { held, manage, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

describe('given steps of a register that are executed late, or twice', () => {
  /** Two processes on one register, which remembers each step that the first one has sent. */
  function start() {
    const clock = manualClock()
    const source = new ScriptedSource({ pairs: true })
    const register = new MemoryRegister(clock)
    const sent: (() => Promise<boolean>)[] = []
    const watched: TokenRegister = {
      kind: 'watched',
      read: (key) => register.read(key),
      async replace(...given) {
        sent.push(() => register.replace(...given))
        return register.replace(...given)
      },
    }
    const [first, second] = [watched, register].map((own) => manage(source, { store: sharedStore(own) }, clock))
    return {
      clock,
      source,
      register,
      sent,
      first: first!.tokens,
      second: second!.tokens,
      told: [first!.observed, second!.observed],
    }
  }

  it('when all steps of a process are executed again after a flush and a renewal by another process, then nothing changes (F180)', async () => {
    const { source, register, sent, first, second, told } = start()
    await first.getAccessToken()
    await first.renew()
    register.values.clear()
    await second.renew()
    const before = [...register.values]
    for (const step of [...sent, ...[...sent].reverse()]) expect(await step()).toBe(false)
    expect([...register.values]).toEqual(before)
    await second.renew()
    expect(source.kinds).toBe('obtain refresh obtain refresh')
    expect(source.calls.at(-1)).toMatchObject({ refreshToken: 'refresh-3' })
    expect(told.flatMap(({ suspicious }) => suspicious)).toEqual([])
  })

  it('when they are executed again during the lease of another process, then that lease holds, and no spent token set returns (F180)', async () => {
    const { source, sent, first, second } = start()
    await first.getAccessToken()
    await first.renew()
    await second.getAccessToken()
    const answer = held(() => source.grant())
    source.script.push(answer.answer)
    const renewed = second.renew()
    while (source.calls.length < 3) await settle()
    for (const step of sent) expect(await step()).toBe(false)
    answer.open()
    await renewed
    const presented = source.calls.flatMap(({ refreshToken }) => refreshToken ?? [])
    expect(presented).toEqual(['refresh-1', 'refresh-2'])
  })
})

describe('given a new token set, and a register that does not respond when it is stored', () => {
  /** @param isExecuted Whether the register executes the step without a response. */
  async function start(isExecuted: boolean) {
    const clock = manualClock()
    const register = new MemoryRegister(clock)
    let isSilent = false
    const silent: TokenRegister = {
      kind: 'silent',
      read: (key) => register.read(key),
      async replace(...given) {
        if (!isSilent) return register.replace(...given)
        if (isExecuted) await register.replace(...given)
        return new Promise<never>(() => undefined)
      },
    }
    const here = manage(new ScriptedSource({ pairs: true }), { store: sharedStore(silent) }, clock)
    const there = manage(new ScriptedSource({ pairs: true }), { store: sharedStore(register) }, clock)
    const gate = held(() => here.source.grant())
    here.source.script.push(gate.answer)
    const served = here.tokens.getAccessToken()
    while (here.source.calls.length === 0) await settle()
    isSilent = true
    gate.open()
    await clock.advance(250)
    isSilent = false
    expect(await served).toBe('access-1')
    return { clock, here, there }
  }

  it.each([true, false])('when it is due, then its refresh token is presented (executed: %s)', async (isExecuted) => {
    const { here, there } = await start(isExecuted)
    await here.tokens.renew()
    expect(here.source.calls.map(({ refreshToken }) => refreshToken)).toEqual([undefined, 'refresh-1'])
    expect(await there.tokens.getAccessToken()).toBe('access-2')
  })

  it.each([true, false])('when the API rejects it, then it is replaced (executed: %s)', async (isExecuted) => {
    const { here } = await start(isExecuted)
    expect(await here.tokens.replaceAccessToken('access-1')).toBe('access-2')
    expect(here.source.kinds).toBe('obtain refresh')
  })

  it("when another process has renewed since, then that process's tokens are kept", async () => {
    const { clock, here, there } = await start(false)
    // Until the lease has expired.
    await clock.advance(15_000)
    await there.tokens.renew()
    await here.tokens.renew()
    expect(here.source.calls.at(-1)?.refreshToken).toBe('refresh-1')
    expect(there.source.kinds).toBe('obtain')
    await there.tokens.renew()
    expect(there.source.calls.at(-1)?.refreshToken).toBe('refresh-2')
  })

  it('when the manager is reset before it is stored, then the tokens stay cleared', async () => {
    const { here, there } = await start(false)
    await here.tokens.reset()
    expect(await there.tokens.getAccessToken()).toBe('access-1')
    expect(await here.tokens.getAccessToken()).toBe('access-1')
    expect([here.source.kinds, there.source.kinds]).toEqual(['obtain', 'obtain'])
  })
})
