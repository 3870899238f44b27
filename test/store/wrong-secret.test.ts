import { describe, expect, it } from '@jest/globals'
import { inspect } from 'node:util'
import {
  clientCredentials,
  createTokenManager,
  loginPassword,
  memoryStore,
  TokenError,
  type TokenGrant,
  type TokenSource,
  type TokenStore,
} from '../../src/index.ts'
import { CREDENTIALS, internalOf } from '../../src/core/token-source.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { outcome } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

/** A service with one valid secret, and tokens of this lifetime. */
function start(lifetimeMs: number, inMemory?: TokenStore) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const calls: string[] = []
  let issued = 0
  const obtain = async (secret: string): Promise<TokenGrant> => {
    calls.push(secret)
    await new Promise<void>((resolve) => clock.setTimer(resolve, 50))
    if (secret !== 'good') {
      const details = { outcome: 'rejected', status: 401 } as const
      throw new TokenError('ERR_CREDENTIALS_REJECTED', 'the service refused the credentials', details)
    }
    issued += 1
    return { accessToken: `access-${issued}`, accessLifetimeMs: lifetimeMs }
  }
  const manager = (source: TokenSource, keepWarm: 'never' | 'while-used' = 'while-used') =>
    createTokenManager({
      source,
      store: inMemory ?? sharedStore(register),
      storeKey: 'a',
      clock,
      renewal: { keepWarm },
    })
  const withSecret = (secret: string) =>
    manager({ id: 'one', obtain: () => obtain(secret), [CREDENTIALS]: () => secret } as TokenSource)
  /** A function returns the secret for each exchange. */
  const withFunction = (secret: string) =>
    manager(
      {
        id: 'one',
        obtain: (context) => {
          internalOf(context).hasCredentials?.(secret)
          return obtain(secret)
        },
      },
      'never',
    )
  const ended = async <Value>(promise: Promise<Value>) => {
    const told = outcome(promise)
    await clock.advance(1_000)
    return told
  }
  return { clock, register, calls, withSecret, withFunction, ended }
}

describe('given healthy processes beside one with a wrong secret', () => {
  it.each([
    ['a shared store', 20_000, () => undefined],
    ['a shared store', 60_000, () => undefined],
    ['memoryStore', 20_000, memoryStore],
    ['memoryStore', 60_000, memoryStore],
  ])(
    'when all share %s, and use tokens of %d ms for 400 s, then none of the healthy ones fails, and the wrong one calls at most once a minute (F355)',
    async (_, lifetimeMs, inMemory) => {
      const { clock, calls, withSecret } = start(lifetimeMs, inMemory())
      const [wrong, ...healthy] = [withSecret('bad'), withSecret('good'), withSecret('good')]
      const answers: Promise<unknown>[] = []
      for (let at = 0; at < 400_000; at += 500) {
        void outcome(wrong.getAccessToken())
        answers.push(...healthy.map((tokens) => outcome(tokens.getAccessToken())))
        await clock.advance(500)
      }
      const failed = (await Promise.all(answers)).filter((answer) => typeof answer !== 'string')
      expect([answers.length, failed]).toEqual([1_600, []])
      expect(calls.filter((secret) => secret === 'bad').length).toBeLessThanOrEqual(7)
    },
  )

  it('when the secrets come from functions, then a process that has made an exchange continues (F355)', async () => {
    const { clock, withFunction, ended } = start(20_000)
    const [healthy, wrong] = [withFunction('good'), withFunction('bad')]
    expect(await ended(healthy.getAccessToken())).toBe('access-1')
    await clock.advance(20_000)
    expect(await ended(wrong.getAccessToken())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(await ended(healthy.getAccessToken())).toBe('access-2')
  })
})

describe('given processes that have the same wrong secret', () => {
  it('when one was rejected, then the others make no token request, and their error says that they have the same credentials (F355)', async () => {
    const { calls, withSecret, ended } = start(20_000)
    const owners = Array.from({ length: 5 }, () => withSecret('bad'))
    await ended(owners[0]!.getAccessToken())
    for (const tokens of owners.slice(1)) {
      const told = await ended(tokens.getAccessToken())
      expect(told).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
      expect((told as Error).message).toContain('This process has the same credentials')
    }
    expect(calls).toEqual(['bad'])
  })

  it.each([
    ['missing', undefined],
    ['none', 7],
  ])('when the fingerprint in the record is %s, then all processes cool down (F355)', async (_, by) => {
    const { register, calls, withSecret, ended } = start(20_000)
    await ended(withSecret('bad').getAccessToken())
    for (const [key, { value, until }] of register.values) {
      const envelope = JSON.parse(value) as { box: string }
      const state = JSON.parse(envelope.box) as { coolDown: object }
      expect(Reflect.get(state.coolDown, 'by')).toMatch(/^[0-9a-f]{4}$/)
      const box = JSON.stringify({ ...state, coolDown: { ...state.coolDown, by } })
      register.values.set(key, { value: JSON.stringify({ ...envelope, box }), until })
    }
    expect(await ended(withSecret('good').getAccessToken())).toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' })
    expect(calls).toEqual(['bad'])
  })
})

describe('given the sources of this package', () => {
  const service = { baseUrl: 'https://payments.example' }
  const server = { tokenEndpoint: 'https://login.example/token', clientId: 'id' }
  it.each<[string, TokenSource, boolean]>([
    ['clientCredentials', clientCredentials({ ...service, clientId: 'id', clientSecret: 'hush' }), true],
    ['loginPassword', loginPassword({ ...service, login: 'id', password: 'hush' }), true],
    ['oauth2', oauth2({ ...server, clientSecret: 'hush' }), true],
    ['oauth2, a function', oauth2({ ...server, clientSecret: () => 'hush' }), false],
  ])(
    'when the source is %s, then the manager sees constant credentials before its first exchange, and no print shows them (F355)',
    (_, source, isTold) => {
      const read = Reflect.get(source, CREDENTIALS) as () => unknown
      expect(typeof read() === 'string').toBe(isTold)
      // An inspection that calls getters finds nothing.
      expect(inspect(source, { depth: Infinity, showHidden: true, getters: true })).not.toContain('hush')
    },
  )
})
