import { describe, expect, it } from '@jest/globals'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { held, manage, ScriptedSource } from '../support/managed.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { settle } from '../support/watched-clock.ts'

describe('given steps of a register that are executed late, or twice', () => {
  /** Two processes on one register, which remembers each step that one of them has ever sent. */
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
      told: [first!.told, second!.told],
    }
  }

  it('when all that a process has sent is executed again after a flush and a renewal of another, then nothing changes (F180)', async () => {
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

  it('when they are executed again under the claim of another, then that claim stands, and no spent pair comes back (F180)', async () => {
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
