import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions, TokenSource } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore, type SharedStoreOptions } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { held, manage, type Managed, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

/** What docs/failover.md promises, with a register in memory. Real servers fail over in test/redis, test/postgres and test/sqlite. */
function start(about: Pick<TokenSource, 'login' | 'refreshTokens'> = {}) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  register.epoch = 'one'
  const newSource = (more: object = {}) => Object.assign(new ScriptedSource({ pairs: true }), about, more)
  const source = newSource()
  const process = (
    store: SharedStoreOptions = {},
    options: Partial<TokenManagerOptions> = {},
    from: ScriptedSource = source,
  ) =>
    manage(from, { store: sharedStore(register, store), renewal: { keepWarm: 'never', jitter: 0 }, ...options }, clock)
  const tokenOf = async ({ tokens }: Managed) => {
    const token = outcome(tokens.getAccessToken())
    await clock.advance(3_000)
    return token
  }
  return { clock, register, source, newSource, process, tokenOf }
}

const LOGIN = { login: person } as const
const GRANT = { accessToken: 'access', accessLifetimeMs: 60_000, refreshToken: 'refresh' }
const required = (loginReason: string) => expect.objectContaining({ code: 'ERR_LOGIN_REQUIRED', loginReason })

describe('given a store whose records are gone (docs/failover.md)', () => {
  it('when a running process knows the login, then all report that it is lost', async () => {
    const { clock, register, process, tokenOf } = start(LOGIN)
    const running = process()
    await running.tokens.adopt(GRANT)
    register.values.clear()
    await clock.advance(61_000)
    expect(await tokenOf(running)).toEqual(required('lost'))
    expect(await tokenOf(process())).toEqual(required('lost'))
  })

  it('when no process knows the login any more, then they report that no user has logged in', async () => {
    const { register, process, tokenOf } = start(LOGIN)
    const old = process()
    await old.tokens.adopt(GRANT)
    await old.tokens.close()
    register.values.clear()
    expect(await tokenOf(process())).toEqual(required('none-yet'))
  })

  it('when the source has credentials, then the fleet obtains once', async () => {
    const { clock, register, source, process, tokenOf } = start()
    const [first, second] = [process(), process()]
    expect([await tokenOf(first), await tokenOf(second)]).toEqual(['access-1', 'access-1'])
    register.values.clear()
    await clock.advance(61_000)
    expect([await tokenOf(first), await tokenOf(second)]).toEqual(['access-2', 'access-2'])
    expect(source.kinds).toBe('obtain obtain')
  })
})

it('given a refresh token that can be used more than once, when the store loses the last renewal, then the login continues, and no caller waits (F349)', async () => {
  const { clock, register, process, tokenOf } = start({ ...LOGIN, refreshTokens: 'reusable' })
  const [first, second] = [process(), process()]
  await first.tokens.adopt(GRANT)
  await tokenOf(second)
  const before = [...register.values]
  await first.tokens.renew()
  await first.tokens.close()
  register.epoch = 'two'
  for (const [key, value] of before) register.values.set(key, value)
  await clock.advance(61_000)
  const askedAt = clock.monotonicNow()
  const token = second.tokens.getAccessToken()
  await clock.advance(0)
  expect(await token).toBe('access-2')
  expect(clock.monotonicNow()).toBe(askedAt)
})

describe('given a release of a program (docs/failover.md)', () => {
  it('when a process closes its manager during a renewal, then the others use the tokens of that renewal', async () => {
    const { source, process, tokenOf } = start()
    const [old, other] = [process(), process()]
    await tokenOf(old)
    await tokenOf(other)
    const response = held(() => source.grant())
    source.script.push(response.answer)
    const renewed = outcome(old.tokens.renew())
    while (source.calls.length < 2) await old.clock.advance(0)
    const closed = old.tokens.close()
    response.open()
    await Promise.all([renewed, closed])
    expect(await other.tokens.replaceAccessToken('access-1')).toBe('access-2')
    expect(source.kinds).toBe('obtain refresh')
  })

  it.each<[string, SharedStoreOptions, Partial<TokenManagerOptions>]>([
    ['prefix', { prefix: 'canary' }, {}],
    ['storeKey', {}, { storeKey: 'canary' }],
  ])('when a canary has its own %s, then it leaves the record of the others alone', async (_, store, options) => {
    const { register, process, tokenOf } = start()
    expect(await tokenOf(process())).toBe('access-1')
    const before = [...register.values.values()][0]
    expect(await tokenOf(process(store, options))).toBe('access-2')
    expect([register.values.size, [...register.values.values()][0]]).toEqual([2, before])
  })
})

describe('given a new encryption key (docs/failover.md)', () => {
  const key = (n: number) => ({ id: `key-${n}`, key: Uint8Array.from({ length: 32 }, (_, index) => index * n) })
  const [OLD, NEW] = [key(1), key(2)]

  it.each([
    ['is added as the second', [OLD], [OLD, NEW]],
    ['becomes the first', [OLD, NEW], [NEW, OLD]],
    ['stays alone', [NEW, OLD], [NEW]],
  ])('when it %s, then old and new processes share the login', async (_, before, after) => {
    const { process, tokenOf } = start(LOGIN)
    const [old, next] = [process({ encryptionKeys: before }), process({ encryptionKeys: after })]
    await old.tokens.adopt(GRANT)
    expect(await tokenOf(next)).toBe('access')
    await next.tokens.renew()
    expect(await old.tokens.replaceAccessToken('access')).toBe('access-1')
  })

  it('when it replaces the old one in one step, then old processes cannot read what new ones write, and no login ends', async () => {
    const { process, tokenOf } = start(LOGIN)
    await process({ encryptionKeys: [NEW] }).tokens.adopt(GRANT)
    expect(await tokenOf(process({ encryptionKeys: [OLD] }))).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(await tokenOf(process({ encryptionKeys: [NEW] }))).toBe('access')
  })
})

describe('given a token service that moves (docs/failover.md)', () => {
  it('when each login has a storeKey, then it continues; without one it is another record', async () => {
    const { source, newSource, process, tokenOf } = start(LOGIN)
    const moved = newSource({ id: 'the new address' })
    await process({}, { storeKey: 'ada' }).tokens.adopt(GRANT)
    expect(await tokenOf(process({}, { storeKey: 'ada' }, moved))).toBe('access')
    await process().tokens.adopt(GRANT)
    expect(await tokenOf(process({}, {}, moved))).toEqual(required('none-yet'))
    expect(await tokenOf(process({}, { storeKey: source.id }, moved))).toBe('access')
  })
})
