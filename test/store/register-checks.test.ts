import { describe, expect, it } from '@jest/globals'
import type { TokenRegister } from '../../src/store/index.ts'
import { tokenRegisterChecks } from '../../tools/testing/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'

describe('given a register in memory', () => {
  const shared = new MemoryRegister()
  for (const { name, run } of tokenRegisterChecks(async () => ({ register: shared })))
    it(`when checked, then ${name}`, run)
})

describe('given a register that breaks a promise', () => {
  type Broken = [string, (whole: MemoryRegister) => Partial<TokenRegister>]

  it.each<Broken>([
    ['a register names its kind', () => ({ kind: '' })],
    ['a register names its kind', () => ({ kind: undefined as unknown as string })],
    [
      'a missing value is read as undefined',
      (whole) => ({ read: async (key) => ({ value: '', ...(await whole.read(key)) }) }),
    ],
    ...[NaN, Infinity, Date.now() / 1_000, Date.now() * 1_000].map((now): Broken => [
      'a missing value is read as undefined',
      () => ({ read: async () => ({ now }) }),
    ]),
    ['every connection reads a stored value', () => ({ replace: async () => true })],
    [
      'a value is replaced only if it is the expected one',
      (whole) => ({ replace: async (key, expected, ...rest) => whole.replace(key, expected?.trim(), ...rest) }),
    ],
    [
      'a value is replaced only if it is the expected one',
      (whole) => ({
        async replace(key, expected, ...rest) {
          const { value } = await whole.read(key)
          return whole.replace(key, value?.slice(0, 255) === expected?.slice(0, 255) ? value : expected, ...rest)
        },
      }),
    ],
    [
      'a missing value is stored only if none is expected',
      (whole) => ({
        async replace(key, expected, ...rest) {
          const { value } = await whole.read(key)
          return whole.replace(key, value === undefined ? undefined : expected, ...rest)
        },
      }),
    ],
    [
      'a step that is executed twice changes nothing the second time',
      (whole) => ({
        async replace(key, expected, value, keepMs) {
          return (await whole.read(key)).value === value || whole.replace(key, expected, value, keepMs)
        },
      }),
    ],
    [
      'any text is stored unchanged',
      (whole) => ({
        replace: (key, expected, value, keepMs) => whole.replace(key, expected, value.slice(0, 65_536), keepMs),
      }),
    ],
    [
      'a value can be kept for a hundred years',
      (whole) => ({
        // The seconds overflow 32 bits.
        replace: (key, expected, value, keepMs) => whole.replace(key, expected, value, ((keepMs / 1_000) | 0) * 1_000),
      }),
    ],
    [
      'any text is stored unchanged',
      (whole) => ({
        read: async (key) => ({ ...(await whole.read(key)), value: (await whole.read(key)).value?.trim() }),
      }),
    ],
    [
      'keys are independent',
      (whole) => ({
        read: (key) => whole.read(key.replace(/2$/, '')),
        replace: (key, ...rest) => whole.replace(key.replace(/2$/, ''), ...rest),
      }),
    ],
    [
      'of many concurrent first writes, one succeeds',
      (whole) => ({
        async replace(key, expected, value, keepMs) {
          const { value: found } = await whole.read(key)
          if (found !== expected) return false
          await new Promise(setImmediate)
          return whole.replace(key, (await whole.read(key)).value, value, keepMs)
        },
      }),
    ],
    // A runner could not end an endless check, because it would block the event loop.
    ['concurrent increments lose no update', () => ({ replace: async () => false })],
    [
      'concurrent increments lose no update',
      (whole) => ({
        async replace(...given) {
          await whole.replace(...given)
          return true
        },
      }),
    ],
    [
      'the history of many owners is linearizable, and no value is dropped early',
      (whole) => ({
        // The unit of the time to live was mistaken for microseconds.
        replace: (key, expected, value, keepMs) => whole.replace(key, expected, value, keepMs / 1_000),
      }),
    ],
    [
      'the history of many owners is linearizable, and no value is dropped early',
      (whole) => ({
        // It compares and stores in two steps, and sometimes loses an update.
        async replace(key, expected, value, keepMs) {
          if ((await whole.read(key)).value !== expected) return false
          await new Promise(setImmediate)
          return whole.replace(key, (await whole.read(key)).value, value, keepMs)
        },
      }),
    ],
    [
      'the history of many owners is linearizable, and no value is dropped early',
      (whole) => {
        // A replica that lags behind.
        const earlier = new Map<string, string | undefined>()
        return {
          async read(key) {
            const reading = await whole.read(key)
            const value = earlier.get(key)
            earlier.set(key, reading.value)
            return { ...reading, ...(value !== undefined && { value }) }
          },
        }
      },
    ],
    [
      'the clock does not go back, and the epoch does not change',
      (whole) => ({ read: async (key) => ({ ...(await whole.read(key)), epoch: String(Math.random()) }) }),
    ],
    [
      'the clock does not go back, and the epoch does not change',
      (whole) => {
        let now = Date.now()
        return { read: async (key) => ({ ...(await whole.read(key)), now: (now -= 1) }) }
      },
    ],
  ])('when it is checked for %s, then the violation is found', async (name, sabotage) => {
    const whole = new MemoryRegister()
    const register: TokenRegister = {
      kind: 'broken',
      read: (key) => whole.read(key),
      replace: (...given) => whole.replace(...given),
      ...sabotage(whole),
    }
    const { run } = tokenRegisterChecks(async () => ({ register })).find((check) => check.name === name)!
    await expect(run()).rejects.toMatchObject({ code: 'ERR_ASSERTION' })
  })

  it('then each opened register is closed, whatever a check finds', async () => {
    let open = 0
    const create = async () => {
      open += 1
      return { register: new MemoryRegister(), end: async () => void (open -= 1) }
    }
    for (const { run } of tokenRegisterChecks(create)) await run().catch(() => undefined)
    expect(open).toBe(0)
  })
})
