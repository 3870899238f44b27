import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, loginPassword, type TokenEvents } from '../../src/index.ts'
import { TokenError } from '../../src/core/errors.ts'
import { sharedStore } from '../../src/store/index.ts'
import { MemoryRegister } from '../support/memory-register.ts'

const whole = Object.getOwnPropertyDescriptor(globalThis, 'crypto')!
const getRandomValues = crypto.getRandomValues.bind(crypto)

/** Browsers give an http page only this much of `crypto`. */
beforeEach(() => {
  Object.defineProperty(globalThis, 'crypto', { configurable: true, value: { getRandomValues } })
  Reflect.set(globalThis, 'isSecureContext', false)
})
afterEach(() => {
  Object.defineProperty(globalThis, 'crypto', whole)
  Reflect.deleteProperty(globalThis, 'isSecureContext')
})

const login = { baseUrl: 'https://tokens.example', login: 'a', password: 'b' }

describe('given a page that is not a secure context', () => {
  it('when a custom source returns rotating tokens, then they are renewed, and a suspicion is reported (F184)', async () => {
    expect([typeof crypto.subtle, typeof Reflect.get(crypto, 'randomUUID')]).toEqual(['undefined', 'undefined'])
    let issued = 0
    const grant = () => ({
      accessToken: `token-${(issued += 1)}`,
      accessLifetimeMs: 60_000,
      refreshToken: `refresh-${issued}`,
      refreshLifetimeMs: 600_000,
    })
    const refused = new TokenError('ERR_REFRESH_REJECTED', 'refused', { outcome: 'rejected' })
    const source = {
      id: 'own',
      obtain: async () => grant(),
      refresh: async (presented: string) => {
        if (presented === 'refresh-1') return grant()
        throw refused
      },
    }
    const tokens = createTokenManager({ source })
    const told: TokenEvents['suspicious'][] = []
    tokens.on('suspicious', (event) => void told.push(event))
    expect(await tokens.getAccessToken()).toBe('token-1')
    await tokens.renew()
    expect(await tokens.getAccessToken()).toBe('token-2')
    await tokens.renew()
    expect(await tokens.getAccessToken()).toBe('token-3') // obtained with the credentials
    expect(told).toMatchObject([{ evidence: 'unexplained', fingerprint: 'unknown' }])
    await tokens.close()
  })

  it('when a signature must be verified, then creating the source throws (F184)', () => {
    expect(() => loginPassword(login)).toThrow(/verifySignature needs WebCrypto.*https.*set it to false/)
    expect(() => loginPassword({ ...login, verifySignature: false })).not.toThrow()
  })

  it('when tokens are shared, then creating the store throws (F184)', () => {
    expect(() => sharedStore(new MemoryRegister())).toThrow(/shared store needs WebCrypto.*https/)
  })
})

describe('given a runtime that is not a page', () => {
  it('when isSecureContext does not exist, then nothing is rejected', () => {
    Reflect.deleteProperty(globalThis, 'isSecureContext')
    expect(() => loginPassword(login)).not.toThrow()
    expect(() => sharedStore(new MemoryRegister())).not.toThrow()
  })
})
