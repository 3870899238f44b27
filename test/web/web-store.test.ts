import { afterEach, describe, expect, it } from '@jest/globals'
import { createTokenManager, isTokenError, type TokenManager, type TokenStore } from '../../src/index.ts'
import { reasonOf } from '../../src/web/reason.ts'
import { webStore } from '../../src/web/index.ts'
import { failureOf } from '../axios/support/turns.ts'
import { settle } from '../support/watched-clock.ts'

afterEach(() => void Reflect.deleteProperty(globalThis, 'isSecureContext'))

/** Two managers on the store, and the messages of their `storeUnavailable` events. */
function start(store: TokenStore) {
  let issued = 0
  const obtain = async () => ({ accessToken: `token-${(issued += 1)}`, accessLifetimeMs: 60_000 })
  const told: string[] = []
  const managers = [1, 2].map(() => createTokenManager({ source: { id: 'own', obtain }, store }))
  for (const tokens of managers) tokens.on('storeUnavailable', ({ message }) => void told.push(message))
  return { managers, told, end: () => Promise.all(managers.map((tokens) => tokens.close())) }
}

describe('given a runtime without IndexedDB', () => {
  it.each([
    [undefined, /^This tab does not share its tokens: there is no IndexedDB here: use/],
    [false, /^This tab does not share its tokens: the page is not a secure context: serve it over https$/],
  ])(
    'when a page whose isSecureContext is %p uses webStore, then it has tokens, and the event states why they are not shared',
    async (isSecure, message) => {
      if (isSecure !== undefined) Reflect.set(globalThis, 'isSecureContext', isSecure)
      const { managers, told, end } = start(webStore())
      const got = []
      for (const tokens of managers) got.push(await tokens.getAccessToken())
      await managers[0]!.renew()
      expect(got).toEqual(['token-1', 'token-1'])
      await settle()
      expect(told).toEqual([expect.stringMatching(message), expect.stringMatching(message)])
      await end()
    },
  )

  it('when a user logs in and out, then the managers of this tab report it', async () => {
    const { managers, end } = start(webStore())
    const [one, other] = managers as [TokenManager, TokenManager]
    await one.adopt({ accessToken: 'adopted', accessLifetimeMs: 60_000 })
    expect(await other.getAccessToken()).toBe('adopted')
    await one.reset()
    await other.renew()
    expect(await one.getAccessToken()).toBe('token-1')
    await end()
  })

  it('when it must fail without the store, then it fails', async () => {
    const { managers, end } = start(webStore({ onUnavailable: 'fail' }))
    const [tokens] = managers as [TokenManager]
    const login = { accessToken: 'adopted', accessLifetimeMs: 60_000 }
    for (const ask of [() => tokens.getAccessToken(), () => tokens.adopt(login)])
      expect(isTokenError(await failureOf(ask()), 'ERR_STORE_UNAVAILABLE')).toBe(true)
    await end()
  })

  it('when an option is wrong, then it is named', () => {
    expect(() => webStore({ keys: [] } as object)).toThrow(/^The options of webStore: there is no 'keys', use prefix/)
    expect(() => webStore({ prefix: '{' })).toThrow(/^prefix must not contain braces/)
    expect(() => webStore({ commandTimeoutMs: -1 })).toThrow(/^commandTimeoutMs must be/)
    expect(() => webStore({ onUnavailable: 'never' as 'fail' })).toThrow(/^onUnavailable must be one of/)
  })
})

describe('given a browser that rejects storage', () => {
  // In a context of `node:vm`, such as that of jest, Node 26 calls no getter of the global object itself.
  const above = Object.getPrototypeOf(globalThis) as object
  afterEach(() => [globalThis, above].forEach((holder) => Reflect.deleteProperty(holder, 'indexedDB')))

  it.each([
    ['by the property', above, () => ({ get: denied })],
    ['in open()', globalThis, () => ({ value: { open: denied } })],
  ])('when it rejects %s, then this tab has tokens, and the event states the remedy', async (_, holder, property) => {
    Object.defineProperty(holder, 'indexedDB', { ...property(), configurable: true })
    const { managers, told, end } = start(webStore())
    expect(await managers[0]!.getAccessToken()).toBe('token-1')
    expect(told).toEqual([expect.stringContaining('the browser denies this site its storage')])
    await end()
  })

  function denied(): never {
    throw new DOMException('The operation is insecure.', 'SecurityError')
  }
})

describe('given an error of IndexedDB', () => {
  it.each([
    [new DOMException('x', 'QuotaExceededError'), /^QuotaExceededError: the storage of this site is full/],
    [new DOMException('x', 'SecurityError'), /allow cookies and site data/],
    [new DOMException('secret', 'UnknownError'), /^UnknownError: [^:]*: allow cookies and site data, and free/],
    [new DOMException('secret', 'DataError'), /^IndexedDB failed with DataError$/],
    [{ name: 'a secret' }, /^IndexedDB failed$/],
    [undefined, /^IndexedDB failed$/],
  ])('when it is %p, then its cause and remedy are reported', (thrown, expected) => {
    expect(reasonOf(thrown)).toMatch(expected)
  })
})
