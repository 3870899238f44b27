import { describe, expect, it } from '@jest/globals'
import { clientCredentials, createTokenManager, loginPassword, memoryStore } from '../../src/index.ts'
import { mcpLogin } from '../../src/mcp/index.ts'
import { oauth2 } from '../../src/oauth2/index.ts'
import { sharedStore, type TokenRegister } from '../../src/store/index.ts'
import { ScriptedSource } from '../support/managed.ts'

const baseUrl = 'https://payments.example.com/api'
const tokenEndpoint = 'https://login.example.com/token'
const missing: unknown = undefined

/** Texts that code makes of a value that it does not have, and what it probably meant. */
const MISTAKES: [string, RegExp][] = [
  [`user-${String(missing)}`, /contains 'undefined': a value is missing$/],
  [`user${String(missing)}`, /contains 'undefined'/],
  ['undefined', /contains 'undefined'/],
  [`tenant-1/${String(null)}`, /contains 'null': a value is missing$/],
  ['null', /contains 'null'/],
  [`user:${Number('a')}`, /contains 'NaN': a value is missing$/],
  ['user-[object Object]', /contains '\[object Object\]': await it, or use its ID$/],
  ['user-[object Promise]', /contains '\[object Promise\]': await it, or use its ID$/],
]
const NAMES = [
  'user-1',
  'Nan Null',
  'annulled',
  'BaNaNa',
  'null@example.com',
  'null.smith@example.com',
  'a null@example.com',
  'object Object',
]

const TAKES: Record<string, [option: string, (name: string) => unknown]> = {
  clientCredentials: ['account', (account) => clientCredentials({ baseUrl, credentials: () => never, account })],
  loginPassword: ['account', (account) => loginPassword({ baseUrl, credentials: () => never, account })],
  oauth2: ['account', (account) => oauth2({ grant: 'login', tokenEndpoint, clientId: 'app', account })],
  mcpLogin: ['account', (account) => mcpLogin({ serverUrl: 'https://mcp.example.com', provider, account })],
  'createTokenManager with a store': [
    'storeKey',
    (storeKey) => createTokenManager({ source: new ScriptedSource(), store: memoryStore(), storeKey }),
  ],
  sharedStore: ['prefix', (prefix) => sharedStore(register, { prefix })],
  'createTokenManager with a source of your own': [
    'source.id',
    (id) => createTokenManager({ source: Object.assign(new ScriptedSource(), { id }) }),
  ],
}
const register: TokenRegister = { kind: 'own', read: () => never, replace: () => never }
const never = new Promise<never>(() => undefined)
const provider = {
  redirectUrl: 'http://127.0.0.1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
  clientInformation: () => undefined,
  saveClientInformation: () => undefined,
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: () => undefined,
  saveCodeVerifier: () => undefined,
  codeVerifier: () => 'v',
}

describe.each(Object.keys(TAKES))('F433: given the name of an account in %s', (where) => {
  const [option, take] = TAKES[where]!

  it.each(MISTAKES)('when it is %j, then a TypeError says what was probably meant', (name, says) => {
    expect(() => take(name)).toThrow(TypeError)
    expect(() => take(name)).toThrow(says)
    expect(() => take(name)).toThrow(new RegExp(`^${option.replace('.', '\\.')} contains`))
  })

  it.each(NAMES)('when it is %j, then it is a name', (name) => {
    expect(() => take(name)).not.toThrow()
  })

  it('when it is a promise of one, then the error says that it must be awaited', () => {
    const promise: unknown = Promise.resolve('user-1')
    expect(() => take(promise as string)).toThrow(`${option} contains '[object Promise]': await it`)
  })
})

describe('F433: given a source whose id has JSON in it', () => {
  it('then its null is no mistake', () => {
    for (const options of [{}, { scope: 'a' }, { parameters: { audience: 'b' } }])
      expect(() =>
        createTokenManager({ source: oauth2({ tokenEndpoint, clientId: 'app', clientSecret: 's', ...options }) }),
      ).not.toThrow()
  })
})
