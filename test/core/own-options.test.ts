import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import type { LoginManager } from '../../src/login/index.ts'
import { redisStore, type RedisStoreOptions } from '../../src/redis/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'

const polluted: string[] = []
/** Adds members to Object.prototype, as an attacker can through a careless merge of JSON. */
function pollute(members: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(members)) {
    polluted.push(name)
    Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true, enumerable: false })
  }
}
afterEach(() => {
  for (const name of polluted.splice(0)) Reflect.deleteProperty(Object.prototype, name)
})

/** The package throws if it reads one of these values. */
const MANAGER = {
  ...{ store: {}, storeKey: 5, exchangeTimeoutMs: -1, onSuspicious: 'never', clock: {}, random: 5 },
  ...{ renewal: 5, skewMs: -1, hardSkewMs: -1, jitter: 2, keepWarm: 5, maxWaitMs: -1 },
  ...{ retry: 5, maxAttempts: 0, baseDelayMs: -1, maxDelayMs: -1, maxRetryAfterMs: -1 },
}
const REDIS = { prefix: '{', encryptionKeys: [], commandTimeoutMs: -1, onUnavailable: 5 }
const client = { command: () => Promise.reject(new Error('gone')) }

describe('given options, and a polluted Object.prototype (F163)', () => {
  it('when the prototype is polluted before they are read, then only their own members count', async () => {
    pollute(MANAGER)
    for (const options of [{}, { renewal: {}, retry: {} }]) {
      const tokens = createTokenManager({ source: new ScriptedSource(), ...options })
      expect(await tokens.getAccessToken()).toBe('access-1')
      await tokens.close()
    }
  })

  it('when the prototype is polluted between construction and the first request, then nothing changes', async () => {
    const { clock, source, tokens } = manage()
    pollute(MANAGER)
    expect(await tokens.getAccessToken()).toBe('access-1')
    pollute({ keepWarm: 'never', skewMs: 60_000 })
    await clock.advance(44_999)
    expect(source.calls).toHaveLength(1)
    await clock.advance(1)
    expect(source.calls).toHaveLength(2)
  })

  it('when a store is created, then only its own members count', () => {
    pollute(REDIS)
    expect(redisStore({ client }).kind).toBe('redis')
  })

  it('when the only client comes from a polluted prototype, then there is none', () => {
    pollute({ client })
    expect(() => redisStore({} as never)).toThrow('client must be an object, got undefined')
  })
})

describe('given a source, and a polluted Object.prototype (F217)', () => {
  const stolen: unknown[] = []
  const steal = (...given: unknown[]) => {
    stolen.push(...given)
    throw new Error('polluted')
  }

  it.each(['refresh', 'reset', 'revoke'])('when only the prototype has %s, then it is not called', async (method) => {
    const obtain = () => Promise.resolve({ accessToken: 'own', accessLifetimeMs: 60_000, refreshToken: 'hidden' })
    pollute({ [method]: steal })
    const tokens = createTokenManager({ source: { id: 'own', obtain } }) as LoginManager
    await tokens.getAccessToken()
    await tokens.renew()
    await tokens.reset()
    await tokens.getAccessToken()
    expect([await tokens.logout(), stolen, tokens.status().counts.failures]).toEqual([
      { revoked: false, reason: 'no-endpoint' },
      [],
      0,
    ])
    await tokens.close()
  })

  it('when only the prototype has id, obtain or an origin, then the source has none', () => {
    const obtain = () => Promise.reject(new Error('never'))
    pollute({ origin: 5 })
    expect(() => createTokenManager({ source: { id: 'own', obtain } })).not.toThrow()
    pollute({ id: 'polluted', obtain })
    expect(() => createTokenManager({ source: { obtain } as never })).toThrow('source.id must be a string')
    expect(() => createTokenManager({ source: { id: 'own' } as never })).toThrow('source.obtain must be a function')
  })

  it('when its revoke is not a function, then the error names it', () => {
    const source = { id: 'own', obtain: () => Promise.reject(new Error('never')), revoke: 'https://id.example/revoke' }
    expect(() => createTokenManager({ source: source as never })).toThrow('source.revoke must be a function')
  })
})

describe('given options that are read (F163, F174)', () => {
  it('when they have getters, then each is read once', () => {
    const reads: string[] = []
    const options = { source: new ScriptedSource() } as TokenManagerOptions
    for (const [name, value] of Object.entries({ store: memoryStore(), exchangeTimeoutMs: 5_000, renewal: {} }))
      Object.defineProperty(options, name, {
        enumerable: true,
        get: () => {
          reads.push(name)
          return value
        },
      })
    createTokenManager(options)
    expect(reads).toEqual(['store', 'exchangeTimeoutMs', 'renewal'])
  })

  it('when they change later, then nothing changes', async () => {
    const renewal = { keepWarm: 'always' as 'always' | 'never' }
    const { clock, source, tokens } = manage(undefined, { renewal })
    renewal.keepWarm = 'never'
    await outcome(tokens.getAccessToken())
    await clock.advance(100_000)
    expect(source.calls.length).toBeGreaterThan(2)
  })

  it.each<[string, Partial<TokenManagerOptions>, RegExp]>([
    [
      'createTokenManager',
      { exchangeTimeout: 5 } as never,
      /^The options of createTokenManager: there is no 'exchangeTimeout', did you mean 'exchangeTimeoutMs'\?$/,
    ],
    ['renewal', { renewal: { before: 5 } as never }, /^renewal: there is no 'before', use skewMs, /],
    ['retry', { retry: { retries: 5 } as never }, /^retry: there is no 'retries', use maxAttempts, /],
  ])('when %s has a name that is not an option, then the TypeError lists the options', (_, options, message) => {
    const make = () => createTokenManager({ source: new ScriptedSource(), ...options })
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
  })

  it('when redisStore has such a name, then the TypeError lists them too', () => {
    const make = () => redisStore({ client, keyPrefix: 'a' } as RedisStoreOptions)
    expect(make).toThrow(/^The options of redisStore: there is no 'keyPrefix', use client, prefix, /)
  })
})
