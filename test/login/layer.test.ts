import { describe, expect, it, jest } from '@jest/globals'
import { createTokenManager, TokenError } from '../../src/index.ts'
import type { LoginManager, LoginSource } from '../../src/login/index.ts'
import * as layers from '../../src/login/index.ts'

const SOURCE = {
  id: 'somebody',
  obtain: () => Promise.reject(new TokenError('ERR_LOGIN_REQUIRED', 'log in')),
}
const LOGIN = { accessToken: 'a', accessLifetimeMs: 60_000, refreshToken: 'r' }
const manage = (members: object): LoginManager =>
  createTokenManager({ source: { ...SOURCE, ...(members as LoginSource) } })

describe('given the layers of logins', () => {
  it.each(Object.entries(layers))(
    'when %s is inspected, then only its kind is visible, and it cannot be changed',
    (name, layer) => {
      expect(JSON.stringify(layer)).toBe(`{"kind":"${name}"}`)
      expect(Reflect.ownKeys({ ...layer })).toEqual(['kind'])
      expect(Object.isFrozen(layer)).toBe(true)
    },
  )

  it.each(Object.values(layers))('when a source has one, then its manager has a login', async (login) => {
    const tokens = manage({ login })
    await tokens.adopt(Promise.resolve(LOGIN))
    expect([tokens.status().login, await tokens.getAccessToken()]).toEqual(['present', 'a'])
    await tokens.logout()
    await expect(tokens.getAccessToken()).rejects.toMatchObject({ code: 'ERR_LOGIN_REQUIRED' })
  })

  it('when a source has one of another copy of the package, as ESM beside CommonJS, then its manager has a login', async () => {
    jest.resetModules()
    const copy = await import('../../src/login/index.ts')
    expect(copy.person).not.toBe(layers.person)
    expect(manage({ login: copy.person }).status()).toMatchObject({ login: 'required', loginReason: 'none-yet' })
  })

  it.each([true, false, null, 'person', 'session', {}, { kind: 'person' }])(
    'when a source has login: %p, then the error names the member',
    (login) => {
      expect(() => manage({ login })).toThrow(TypeError)
      expect(() => manage({ login })).toThrow(
        /^source\.login must be person or session of axios-evergreen\/login, got /,
      )
    },
  )

  it.each([true, false, 'session'])(
    'when a source has needsLogin: %p, then the error names the remedy',
    (needsLogin) => {
      expect(() => manage({ needsLogin })).toThrow(TypeError)
      expect(() => manage({ needsLogin })).toThrow(
        /^source\.needsLogin is now source\.login: person or session of axios-evergreen\/login$/,
      )
    },
  )

  it('when both are undefined, then the source has none', () => {
    expect(manage({ login: undefined, needsLogin: undefined }).status()).not.toHaveProperty('login')
  })
})

describe('given a source that can obtain', () => {
  const obtain = () => Promise.resolve(LOGIN)

  it('when untyped code calls the methods of managers of logins, then all of them exist: a logout is a reset', async () => {
    const tokens = manage({ obtain })
    const told: unknown[] = []
    tokens.on('loginChanged', (event) => told.push(event))
    expect(await tokens.getAccessToken()).toBe('a')
    expect(await tokens.logout()).toEqual({ revoked: false, reason: 'no-endpoint' })
    expect(tokens.status()).toMatchObject({ phase: 'empty' })
    await tokens.adopt(Promise.resolve({ ...LOGIN, accessToken: 'b' }))
    expect(await tokens.getAccessToken()).toBe('b')
    await tokens.adopt(Promise.resolve(undefined))
    expect(await tokens.getAccessToken()).toBe('b')
    expect([told, tokens.status().login]).toEqual([[], undefined])
  })

  it('when it has revoke, then a logout revokes the tokens of the manager', async () => {
    const revoked: unknown[] = []
    const tokens = manage({ obtain, revoke: async (given: unknown) => void revoked.push(given) })
    await tokens.getAccessToken()
    expect(await tokens.logout()).toEqual({ revoked: true })
    expect(revoked).toEqual([{ accessToken: 'a', refreshToken: 'r' }])
    expect(await tokens.logout()).toEqual({ revoked: false, reason: 'nothing' })
  })
})
