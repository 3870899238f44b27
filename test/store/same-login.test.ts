import { describe, expect, it } from '@jest/globals'
import { memoryStore, TokenError, type TokenGrant, type TokenSource, type TokenStore } from '../../src/index.ts'
import { person } from '../../src/login/index.ts'
import { sharedStore } from '../../src/store/index.ts'
import { manualClock } from '../../tools/testing/manual-clock.ts'
import { manage, outcome, type ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const LIFETIME_MS = 60_000

/** Rotates the refresh tokens of each user. Presenting a used one ends the login of that user. */
class Service {
  readonly presented: string[] = []
  readonly revoked: unknown[] = []
  readonly ended = new Set<string>()
  readonly #rotations = new Map<string, number>()

  source(settings: Partial<TokenSource> = {}): TokenSource {
    return {
      id: 'people',
      login: person,
      obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in', { outcome: 'not-sent' })),
      refresh: (refreshToken) => this.#refresh(refreshToken, settings.refreshTokens === 'reusable'),
      revoke: async (tokens) => void this.revoked.push(tokens.refreshToken),
      ...settings,
    }
  }

  async #refresh(refreshToken: string, isReusable: boolean): Promise<TokenGrant> {
    this.presented.push(refreshToken)
    const [name = ''] = refreshToken.split('-')
    const rotations = this.#rotations.get(name) ?? 0
    if (!isReusable && refreshToken !== `${name}-${rotations}`) this.ended.add(name)
    if (this.ended.has(name))
      throw new TokenError('ERR_REFRESH_REJECTED', 'reused', { outcome: 'rejected', status: 400 })
    this.#rotations.set(name, rotations + 1)
    return {
      accessToken: `${name}-access-${rotations + 1}`,
      accessLifetimeMs: LIFETIME_MS,
      ...(!isReusable && { refreshToken: `${name}-${rotations + 1}` }),
    }
  }
}

type StoreOf = (register: MemoryRegister) => () => TokenStore | undefined
const SHARED: StoreOf = (register) => () => sharedStore(register)
const IN_MEMORY: StoreOf = () => {
  const store = memoryStore()
  return () => store
}

function startWith(storeOf: StoreOf, settings: Partial<TokenSource> = {}) {
  const clock = manualClock()
  const register = new MemoryRegister(clock)
  const store = storeOf(register)
  const service = new Service()
  const owner = () =>
    manage(
      service.source(settings) as ScriptedSource,
      { store: store(), storeKey: 'a', renewal: { keepWarm: 'never' } },
      clock,
    )
  const ended = async <Value>(promise: Promise<Value>, ms = 2_000) => {
    const observed = outcome(promise)
    await clock.advance(ms)
    return observed
  }
  return { clock, register, service, owner, ended }
}

const ALICE = { refreshToken: 'alice-0' }
const BOB = { refreshToken: 'bob-0', accessToken: 'bob-access-0', accessLifetimeMs: LIFETIME_MS }

describe.each([
  ['a shared store', SHARED],
  ['the memory of one process', IN_MEMORY],
] as const)('given %s', (_, storeOf) => {
  const start = (settings: Partial<TokenSource> = {}) => startWith(storeOf, settings)

  describe('given the first refresh token of a login, such as that of a configuration', () => {
    it('when the process restarts and adopts it again, then the login continues with the tokens of the store (F348)', async () => {
      const { service, owner, ended } = start()
      const first = owner()
      await ended(first.tokens.adopt(ALICE))
      expect(await ended(first.tokens.getAccessToken())).toBe('alice-access-1')
      await ended(first.tokens.close())
      const second = owner()
      expect(await ended(second.tokens.adopt(ALICE))).toBeUndefined()
      expect(await ended(second.tokens.getAccessToken())).toBe('alice-access-1')
      await ended(second.tokens.renew())
      expect([service.presented, service.revoked, service.ended.size]).toEqual([['alice-0', 'alice-1'], [], 0])
    })

    it('when five processes adopt it at the same moment, then all get a token, and it is presented once (F348)', async () => {
      const { clock, service, owner } = start()
      const owners = Array.from({ length: 5 }, owner)
      const served = owners.map(({ tokens }) => {
        void outcome(tokens.adopt(ALICE))
        return outcome(tokens.getAccessToken())
      })
      await clock.advance(10_000)
      expect(await Promise.all(served)).toEqual(Array(5).fill('alice-access-1'))
      expect([service.presented, service.ended.size]).toEqual([['alice-0'], 0])
      for (const { observed } of owners)
        expect(observed.loginChanged.filter(({ login }) => login === 'required')).toEqual([])
    })

    it('when ten requests of one manager adopt it at once, then it is one login, and it is reported once (F348)', async () => {
      const { clock, service, owner } = start()
      const { tokens, observed } = owner()
      const served = Array.from({ length: 10 }, () => {
        void outcome(tokens.adopt(ALICE))
        return outcome(tokens.getAccessToken())
      })
      await clock.advance(5_000)
      expect(await Promise.all(served)).toEqual(Array(10).fill('alice-access-1'))
      expect([service.presented, observed.loginChanged.length]).toEqual([['alice-0'], 1])
      void outcome(tokens.adopt(ALICE))
      expect(tokens.peekAccessToken()).toBe('alice-access-1')
    })

    it.each([1, 8])(
      'when %d refresh tokens were spent since, and one of them is adopted, then nothing changes for any process (F348)',
      async (times) => {
        const { clock, register, service, owner, ended } = start()
        const a = owner()
        await ended(a.tokens.adopt(ALICE))
        for (let n = 0; n < times; n += 1) await ended(a.tokens.renew())
        const stands = [...register.values]
        for (let n = 0; n <= times; n += 1) {
          const b = owner()
          expect(await ended(b.tokens.adopt({ refreshToken: `alice-${n}` }))).toBeUndefined()
          expect(b.tokens.peekAccessToken()).toBe(`alice-access-${times}`)
        }
        expect([...register.values]).toEqual(stands)
        await clock.advance(LIFETIME_MS)
        expect(await ended(a.tokens.getAccessToken())).toBe(`alice-access-${times + 1}`)
        expect([a.observed.loginChanged.length, service.ended.size, service.revoked]).toEqual([1, 0, []])
      },
    )
  })

  describe('given a login that has ended', () => {
    it('when its first refresh token is adopted again, then it stays ended (F348)', async () => {
      const { service, owner, ended } = start()
      const a = owner()
      await ended(a.tokens.adopt(ALICE))
      await ended(a.tokens.getAccessToken())
      await ended(a.tokens.logout())
      const b = owner()
      expect(await ended(b.tokens.adopt(ALICE))).toBeUndefined()
      expect(await ended(b.tokens.getAccessToken())).toMatchObject({ loginReason: 'logged-out' })
      expect([service.presented, b.tokens.status().login]).toEqual([['alice-0'], 'required'])
    })

    it('when another user has logged in since, then that login stays, nothing is revoked, and callers of the old login get none of its tokens (F348)', async () => {
      const { clock, service, owner, ended } = start()
      const a = owner()
      await ended(a.tokens.adopt({ ...ALICE, subject: 'alice' }))
      await ended(a.tokens.getAccessToken())
      await ended(a.tokens.adopt({ ...BOB, subject: 'bob' }))
      const revoked = [...service.revoked]
      const b = owner()
      void outcome(b.tokens.adopt({ ...ALICE, subject: 'alice' }))
      const asked = outcome(b.tokens.getAccessToken())
      await clock.advance(2_000)
      expect(await asked).toMatchObject({ code: 'ERR_LOGIN_REPLACED' })
      expect(await ended(b.tokens.getAccessToken())).toBe('bob-access-0')
      expect(await ended(a.tokens.getAccessToken())).toBe('bob-access-0')
      expect([service.revoked, service.presented]).toEqual([revoked, ['alice-0']])
    })
  })

  describe('given a reusable refresh token', () => {
    it('when it is adopted again with a newer access token, then that one is used, and the login is the same (F348)', async () => {
      const { owner, ended } = start({ refreshTokens: 'reusable' })
      const [a, b] = [owner(), owner()]
      await ended(a.tokens.adopt({ ...ALICE, accessToken: 'one', accessLifetimeMs: 30_000 }))
      await ended(b.tokens.adopt({ ...ALICE, accessToken: 'two', accessLifetimeMs: LIFETIME_MS }))
      await ended(a.tokens.renew(), 5_000)
      expect([await ended(owner().tokens.getAccessToken()), a.observed.loginChanged.length]).toEqual([
        'alice-access-1',
        1,
      ])
      await ended(a.tokens.adopt({ ...ALICE, accessToken: 'three', accessLifetimeMs: 90_000 }))
      expect(await ended(owner().tokens.getAccessToken())).toBe('three')
      expect(a.observed.loginChanged.length).toBe(1)
    })
  })
})

it.each([
  ['shared', SHARED],
  ['in memory', IN_MEMORY],
  ['none', () => () => undefined],
] as const)(
  'given a store: %s, when the manager of a login adopts its first and its last eight spent refresh tokens, then nothing changes (F348)',
  async (_, storeOf) => {
    const { service, owner, ended } = startWith(storeOf)
    const { tokens, observed } = owner()
    await ended(tokens.adopt(ALICE))
    for (let n = 0; n < 13; n += 1) await ended(tokens.renew(), 5_000)
    for (const n of [0, 5, 6, 12, 13]) await ended(tokens.adopt({ refreshToken: `alice-${n}` }))
    expect(tokens.peekAccessToken()).toBe('alice-access-13')
    await ended(tokens.renew(), 5_000)
    expect([service.ended.size, service.revoked, observed.loginChanged.length]).toEqual([0, [], 1])
  },
)

describe('given a record whose fingerprints are invalid or missing', () => {
  it.each([
    ['missing', () => ({ began: undefined, spent: undefined, past: undefined })],
    ['none', () => ({ began: 7, spent: 'all', past: [null, {}] })],
  ])('when they are %s, then the record is read, and a login can be adopted (F348)', async (_, changes) => {
    const { register, owner, ended } = startWith(SHARED)
    await ended(owner().tokens.adopt(BOB))
    for (const [key, { value, until }] of register.values) {
      const envelope = JSON.parse(value) as { box: string }
      const state = { ...(JSON.parse(envelope.box) as object), ...changes() }
      register.values.set(key, { value: JSON.stringify({ ...envelope, box: JSON.stringify(state) }), until })
    }
    expect(await ended(owner().tokens.getAccessToken())).toBe('bob-access-0')
    const later = { ...ALICE, accessToken: 'alice-access-0', accessLifetimeMs: LIFETIME_MS }
    await ended(owner().tokens.adopt(later))
    expect(await ended(owner().tokens.getAccessToken())).toBe('alice-access-0')
  })
})
