import { describe, expect, it } from '@jest/globals'
import type { TokenRegister } from '../../src/store/index.ts'
import { tokenRegisterChecks } from '../../src/testing/index.ts'
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
      'where nothing stands, nothing is read',
      (whole) => ({ read: async (key) => ({ value: '', ...(await whole.read(key)) }) }),
    ],
    ...[NaN, Infinity, Date.now() / 1_000, Date.now() * 1_000].map((now): Broken => [
      'where nothing stands, nothing is read',
      () => ({ read: async () => ({ now }) }),
    ]),
    ['what was put there is read by everybody', () => ({ replace: async () => true })],
    [
      'a value is replaced by those alone who expect it',
      (whole) => ({ replace: async (key, expected, ...rest) => whole.replace(key, expected?.trim(), ...rest) }),
    ],
    [
      'a value is replaced by those alone who expect it',
      (whole) => ({
        async replace(key, expected, ...rest) {
          const { value } = await whole.read(key)
          return whole.replace(key, value?.slice(0, 255) === expected?.slice(0, 255) ? value : expected, ...rest)
        },
      }),
    ],
    [
      'where nothing stands, those alone put a value there who expect nothing',
      (whole) => ({
        async replace(key, expected, ...rest) {
          const { value } = await whole.read(key)
          return whole.replace(key, value === undefined ? undefined : expected, ...rest)
        },
      }),
    ],
    [
      'a step that is executed twice changes nothing more',
      (whole) => ({
        async replace(key, expected, value, keepMs) {
          return (await whole.read(key)).value === value || whole.replace(key, expected, value, keepMs)
        },
      }),
    ],
    [
      'any text is kept as it is',
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
      'any text is kept as it is',
      (whole) => ({
        read: async (key) => ({ ...(await whole.read(key)), value: (await whole.read(key)).value?.trim() }),
      }),
    ],
    [
      'keys have nothing to do with each other',
      (whole) => ({
        read: (key) => whole.read(key.replace(/2$/, '')),
        replace: (key, ...rest) => whole.replace(key.replace(/2$/, ''), ...rest),
      }),
    ],
    [
      'of many who put a first value there at once, one succeeds',
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
    ['many who read and replace in turns lose nothing', () => ({ replace: async () => false })],
    [
      'many who read and replace in turns lose nothing',
      (whole) => ({
        async replace(...given) {
          await whole.replace(...given)
          return true
        },
      }),
    ],
    [
      'an order explains what many owners saw, and nothing is dropped early',
      (whole) => ({
        // The unit of the time to live was mistaken for microseconds.
        replace: (key, expected, value, keepMs) => whole.replace(key, expected, value, keepMs / 1_000),
      }),
    ],
    [
      'an order explains what many owners saw, and nothing is dropped early',
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
      'an order explains what many owners saw, and nothing is dropped early',
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
      'the clock does not go back, and the epoch stays',
      (whole) => ({ read: async (key) => ({ ...(await whole.read(key)), epoch: String(Math.random()) }) }),
    ],
    [
      'the clock does not go back, and the epoch stays',
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
