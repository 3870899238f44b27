import { describe, expect, it } from '@jest/globals'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'

/**
 * Two processes on one register. For the first, the register executes each step at once. After `hold()`, its
 * responses wait until the test calls `open()`.
 */
function start() {
  const clock = manualClock()
  // The clock of another machine, which does not sleep.
  const register = new MemoryRegister(manualClock())
  let gate: Promise<void> | undefined
  let open = (): void => undefined
  const answered = async <Value>(value: Promise<Value>): Promise<Value> => {
    const known = await value
    await gate
    return known
  }
  const slow: TokenRegister = {
    kind: 'slow',
    read: (key) => answered(register.read(key)),
    replace: (...given) => answered(register.replace(...given)),
  }
  const [here, there] = [slow, register].map((own) =>
    manage(new ScriptedSource({ pairs: true }), { store: sharedStore(own, { commandTimeoutMs: 5_000 }) }, clock),
  ) as [ReturnType<typeof manage>, ReturnType<typeof manage>]
  const hold = () => {
    gate = new Promise<void>((resolve) => (open = resolve))
  }
  return { clock, here, there, hold, open: () => open() }
}

describe('given a machine that sleeps during a store step', () => {
  it('when another process has a token, then the sleep counts against its lifetime', async () => {
    const { clock, here, there, hold, open } = start()
    await there.tokens.getAccessToken()
    hold()
    const asked = here.tokens.getAccessToken()
    await settle()
    clock.stepWall(50_000)
    open()
    expect(await asked).toBe('access-1')
    expect(here.tokens.status().accessExpiresAt).toBe(clock.wallNow() + 10_000)
  })

  it('when a new token is stored, then the sleep counts against its lifetime', async () => {
    const { clock, here, hold, open } = start()
    here.source.script.push(() => {
      hold()
      return here.source.grant()
    })
    const asked = here.tokens.getAccessToken()
    while (here.source.calls.length === 0) await settle()
    await settle()
    clock.stepWall(50_000)
    open()
    expect(await asked).toBe('access-1')
    expect(here.tokens.status().accessExpiresAt).toBe(clock.wallNow() + 10_000)
  })

  it('when the sleep is longer than the lease, then the refresh token is presented anyway', async () => {
    const { clock, here, hold, open } = start()
    await here.tokens.getAccessToken()
    hold()
    const renewed = here.tokens.renew()
    await settle()
    clock.stepWall(20_000)
    open()
    await renewed
    expect(here.source.kinds).toBe('obtain refresh')
  })
})
