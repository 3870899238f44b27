import { describe, expect, it } from '@jest/globals'
import type { TokenStore } from '../../src/index.ts'
import { type EncryptionKey, sharedStore } from '../../src/store/index.ts'
import { manage, outcome, ScriptedSource } from '../support/managed.ts'
import { MemoryRegister } from '../support/memory-register.ts'
import { settle } from '../support/watched-clock.ts'
import { person } from '../../src/login/index.ts'

const key = (first: number): EncryptionKey => ({
  id: `key-${first}`,
  key: Uint8Array.from({ length: 32 }, (_, n) => n + first),
})
const ALICE = { accessToken: 'alice', accessLifetimeMs: 60_000, refreshToken: 'of-alice' }

class LoginSource extends ScriptedSource {
  readonly login = person
  override obtain(): Promise<never> {
    return Promise.reject(new Error('a login is never obtained'))
  }
}
const start = (store: TokenStore) => manage(new LoginSource({ pairs: true }), { store })

describe('given promises of encryption keys', () => {
  it('when they resolve, then a waiting step writes a sealed record, which the other keys open', async () => {
    const register = new MemoryRegister()
    let come: (given: EncryptionKey) => void = () => undefined
    const later = new Promise<EncryptionKey>((resolve) => (come = resolve))
    const { tokens } = start(sharedStore(register, { encryptionKeys: [later, key(2)] }))
    const adopted = tokens.adopt(ALICE)
    await settle()
    expect([tokens.peekAccessToken(), [...register.values.values()].map(({ value }) => value)]).toEqual(['alice', []])
    come(key(1))
    await adopted
    expect([...register.values.values()].map(({ value }) => value).join('')).toMatch(/"kid":"key-1"/)
    const other = start(sharedStore(register, { encryptionKeys: [Promise.resolve(key(1))] }))
    expect(await other.tokens.getAccessToken()).toBe('alice')
  })

  it.each([
    [
      'is rejected',
      () => Promise.reject(new DOMException('secret', 'QuotaExceededError')),
      'the promise of encryptionKeys[1] was rejected (QuotaExceededError)',
    ],
    ['resolves to no key', () => Promise.resolve('secret'), 'encryptionKeys[1] must be an object'],
    [
      'resolves to the id of another key',
      () => Promise.resolve(key(1)),
      "encryptionKeys[1].id 'key-1' is already used by an earlier key",
    ],
  ])(
    'when one %s, then the error says so, the record is unchanged, and the login works here',
    async (_, broken, message) => {
      const register = new MemoryRegister()
      await start(sharedStore(register, { encryptionKeys: [key(1)] })).tokens.adopt(ALICE)
      const before = [...register.values]
      const encryptionKeys = [key(1), broken() as Promise<EncryptionKey>]
      const { tokens, clock } = start(sharedStore(register, { encryptionKeys, onUnavailable: 'fail' }))
      const asked = outcome(tokens.getAccessToken())
      await clock.advance(2_000)
      expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
      expect(String(await asked)).toContain(message)
      const adopted = outcome(tokens.adopt({ ...ALICE, accessToken: 'alice-2' }))
      await clock.advance(2_000)
      expect([await adopted, tokens.peekAccessToken()]).toMatchObject([{ code: 'ERR_STORE_UNAVAILABLE' }, 'alice-2'])
      expect([...register.values]).toEqual(before)
      expect(String(await adopted)).not.toContain('secret')
    },
  )

  it('when one never resolves, then a step ends at its limit', async () => {
    const store = sharedStore(new MemoryRegister(), {
      encryptionKeys: [new Promise<EncryptionKey>(() => undefined)],
      onUnavailable: 'fail',
    })
    const { tokens, clock } = start(store)
    const asked = outcome(tokens.getAccessToken())
    await clock.advance(1_000)
    expect(await asked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(String(await asked)).toContain('encryptionKeys: the promise of a key has not settled')
  })

  it('when a key passed directly is invalid, then the store is rejected at once', () => {
    const encryptionKeys = [Promise.resolve(key(1)), { id: 'short', key: new Uint8Array(16) }]
    expect(() => sharedStore(new MemoryRegister(), { encryptionKeys })).toThrow(
      'encryptionKeys[1].key must have 32 bytes',
    )
  })
})
