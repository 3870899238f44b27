import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { createTokenManager, memoryStore, type TokenManagerOptions } from '../../src/index.ts'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { webStore } from '../../src/web/index.ts'
import { misuse } from '../service/world.ts'
import { client, ENDPOINT } from './world.ts'

const given = { tokenEndpoint: ENDPOINT, ...client }
const refused = (options: object) => misuse(() => oauth2({ ...given, ...options }))

describe('given invalid options', () => {
  it.each([
    [
      { tokenEndpoint: undefined },
      'tokenEndpoint or issuer must be a URL, got undefined: is the environment variable set?',
    ],
    [{ tokenEndpoint: '/token' }, "tokenEndpoint must be an absolute http or https URL, got '/token'"],
    [{ tokenEndpoint: 'http://login.example/token' }, 'tokenEndpoint must be https, got http://login.example/token; '],
    [{ tokenEndpoint: `${ENDPOINT}#here` }, 'tokenEndpoint must have no fragment'],
    [{ clientId: undefined }, 'clientId must be given, got undefined: is the environment variable set?'],
    [{ clientId: 'undefined' }, 'clientId must be a credential, not the word undefined or null'],
    [{ clientSecret: '' }, 'clientSecret must be given, got an empty string: is the environment variable set?'],
    [{ clientSecret: 'hidden\n' }, 'clientSecret must have no line break'],
    [{ clientSecret: 5 }, 'clientSecret must be a string, got number'],
    [{ clientSecret: undefined }, 'clientSecret must be given, got undefined: is the environment variable set?'],
    [{ clientSecret: undefined, clientAuthentication: 'post' }, 'clientSecret must be given, got undefined'],
    [{ clientSecret: undefined, clientAuthentication: 'basic' }, 'clientSecret must be given, got undefined'],
    [{ clientAuthentication: 'jwt' }, "clientAuthentication must be one of 'basic', 'post', 'none', got 'jwt'"],
    [{ clientAuthentication: 'none' }, "clientSecret must not be given with clientAuthentication 'none'"],
    [{ errors: { weird: 'dead' } }, "errors.weird must be one of 'invalid_grant', 'invalid_client',"],
    [{ errors: 'weird' }, 'errors must be an object, got string'],
    [{ onAnswer: true }, 'onAnswer must be a function, got boolean'],
    [{ tokenEndpoint: undefined, issuer: 'login.example' }, 'issuer must be an absolute http or https URL'],
    [{ tokenEndpoint: undefined, issuer: 'http://login.example' }, 'issuer must be https, got http://login.example/'],
    [{ tokenEndpoint: undefined, issuer: 'https://login.example/?a=b' }, 'issuer must have no query and no fragment'],
    [
      { tokenEndpoint: undefined, issuer: 'https://login.example/realm/.well-known/openid-configuration' },
      'issuer must be the issuer itself, without /.well-known/',
    ],
    [{ revocationEndpoint: 'http://login.example/revoke' }, 'revocationEndpoint must be https'],
    [{ revocationEndpoint: `${ENDPOINT}#here` }, 'revocationEndpoint must have no fragment'],
    [{ grant: 'password' }, "grant must be one of 'client_credentials', 'login', got 'password'"],
    [{ refreshTokens: 'rotating' }, "refreshTokens must be one of 'single-use', 'reusable', got 'rotating'"],
    [{ reuseGraceMs: -1 }, 'reuseGraceMs must be a finite number from 0, got -1'],
    [{ defaultLifetimeMs: 0 }, 'defaultLifetimeMs must be a finite number from 1, got 0'],
    [{ defaultLifetimeMs: '300' }, "defaultLifetimeMs must be a number, got '300'"],
    [{ body: 'xml' }, "body must be one of 'form', 'json', got 'xml'"],
    [{ store: {} }, "there is no 'store', it belongs to createTokenManager"],
    [{ refreshToken: 'hidden' }, "there is no 'refreshToken', it belongs to adopt() of the token manager"],
    [{ scope: 5 }, 'scope must be text, or a list of texts'],
    [{ scope: '' }, 'scope must be words of visible ASCII characters'],
    [{ scope: ['read', 5] }, 'scope must be words of visible ASCII characters'],
    [{ scope: 'read "all"' }, 'scope must be words of visible ASCII characters'],
    [{ parameters: 'audience=x' }, 'parameters must be an object, got string'],
    [{ parameters: new URLSearchParams('audience=x') }, 'parameters must be a plain object: use Object.fromEntries'],
    [{ parameters: { audience: undefined } }, 'parameters.audience must be a string, got undefined'],
    [{ parameters: { scope: 'read' } }, 'parameters must not contain scope: use its option'],
    [{ parameters: { grant_type: 'password' } }, 'parameters must not contain grant_type: use its option'],
    [{ account: '' }, 'account must not be empty'],
    [{ issuer: '' }, 'issuer must not be empty'],
    [{ transport: { timeout: 5 } }, 'transport has no timeout'],
    [{ allowInsecureHttp: 'yes' }, "allowInsecureHttp must be true or false, got 'yes'"],
    [{ audience: 'api' }, 'audience is not an option: use parameters: { audience }'],
    [{ tenant: 'api' }, "there is no 'tenant'"],
  ])('when they are %j, then the error names the option', (options, message) => {
    const error = refused(options)
    expect(error.message).toContain(message)
    expect(error.message).not.toMatch(/hidden|secret-of-nobody/)
  })
})

describe('given the id of a source', () => {
  const idOf = (options: Partial<OAuth2Options> = {}) => oauth2({ ...given, ...options }).id

  it('when endpoint, client, account, grant, scope or parameters differ, then the ids differ', () => {
    const others: Partial<OAuth2Options>[] = [
      {},
      { tokenEndpoint: 'https://login.example/other' },
      { clientId: 'another-client' },
      { account: 'another-account' },
      { grant: 'login' },
      { scope: 'read' },
      { scope: 'read write' },
      { parameters: { audience: 'a' } },
      { parameters: { resource: 'a' } },
      { grant: () => ({ grant_type: 'other' }) },
      { tokenEndpoint: undefined, issuer: 'https://login.example' },
    ]
    expect(new Set(others.map(idOf)).size).toBe(others.length)
  })

  it('when the same options are written differently, then it is the same', () => {
    expect(idOf({ tokenEndpoint: new URL(ENDPOINT), account: client.clientId, clientSecret: 'another' })).toBe(idOf())
    expect(idOf({ scope: ['read', 'write'] })).toBe(idOf({ scope: ' read  write ' }))
    expect(idOf({ parameters: { a: '1', b: '2' } })).toBe(idOf({ parameters: { b: '2', a: '1' } }))
  })
})

describe('given a source', () => {
  it('when it is printed, then it shows neither client nor address', () => {
    const source = oauth2({ ...given, parameters: { assertion: 'hidden-value' } })
    const printed = inspect(source, { depth: 9, showHidden: true }) + JSON.stringify(source)
    expect(printed).not.toMatch(/hidden-value|of-nobody|login\.example/)
  })

  it('when its origin is read, then there is none: the API is elsewhere', () => {
    expect(oauth2(given).origin).toBeUndefined()
  })

  it('when refreshTokens and reuseGraceMs are given, then the manager can read them', () => {
    expect(oauth2(given)).toMatchObject({ refreshTokens: 'single-use', reuseGraceMs: 0 })
    const options = { refreshTokens: 'reusable', reuseGraceMs: 30_000 } as const
    expect(oauth2({ ...given, ...options })).toMatchObject(options)
  })
})

describe('given a source that does not distinguish users, and a store (F215)', () => {
  const made = (options: Partial<OAuth2Options>, manager: Partial<TokenManagerOptions> = {}) => {
    const source = oauth2({ ...given, ...options })
    return createTokenManager({ source, store: memoryStore(), ...manager })
  }
  const other = () => ({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' })

  it.each<OAuth2Options['grant']>(['login', other])(
    'when grant is %p, then createTokenManager requires an account or a storeKey',
    async (grant) => {
      expect(misuse(() => made({ grant })).message).toContain('With a store, pass storeKey, or account to the source')
      for (const tokens of [made({ grant, account: 'user-1' }), made({ grant }, { storeKey: 'user-1' })])
        await tokens.close()
    },
  )

  it('when the grant is client credentials, or there is no store, then nothing is required', async () => {
    for (const tokens of [made({}), made({ grant: 'login' }, { store: undefined })]) await tokens.close()
  })

  it('when the store is the storage of a browser, then nothing is required: it has one user', async () => {
    const tokens = made({ grant: 'login' }, { store: webStore() })
    await tokens.close()
  })
})
