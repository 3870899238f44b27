import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { oauth2, type OAuth2Options } from '../../src/oauth2/index.ts'
import { misuse } from '../service/world.ts'
import { client, ENDPOINT } from './world.ts'

const given = { tokenEndpoint: ENDPOINT, ...client }
const refused = (options: object) => misuse(() => oauth2({ ...given, ...options }))

describe('given options that are wrong', () => {
  it.each([
    [{ tokenEndpoint: undefined }, 'tokenEndpoint must be a URL, got undefined'],
    [{ tokenEndpoint: '/token' }, "tokenEndpoint must be an absolute http or https URL, got '/token'"],
    [{ tokenEndpoint: 'http://login.example/token' }, 'tokenEndpoint must be https, got http://login.example/token; '],
    [{ tokenEndpoint: `${ENDPOINT}#here` }, 'tokenEndpoint must have no fragment'],
    [{ clientId: undefined }, 'clientId must be given, got undefined: is the environment variable set?'],
    [{ clientId: 'undefined' }, 'clientId must be a credential, not the word undefined or null'],
    [{ clientSecret: '' }, 'clientSecret must be given, got an empty text: is the environment variable set?'],
    [{ clientSecret: 'hidden\n' }, 'clientSecret must have no line break'],
    [{ clientSecret: 5 }, 'clientSecret must be a string, got number'],
    [{ clientSecret: undefined }, 'clientSecret must be given, got undefined: is the environment variable set?'],
    [{ clientSecret: undefined, clientAuthentication: 'post' }, 'clientSecret must be given, got undefined'],
    [{ clientSecret: undefined, clientAuthentication: 'basic' }, 'clientSecret must be given, got undefined'],
    [{ clientAuthentication: 'jwt' }, "clientAuthentication must be one of 'basic', 'post', 'none', got 'jwt'"],
    [{ grant: 'password' }, "grant must be one of 'client_credentials', 'login', got 'password'"],
    [{ refreshTokens: 'rotating' }, "refreshTokens must be one of 'single-use', 'reusable', got 'rotating'"],
    [{ reuseGraceMs: -1 }, 'reuseGraceMs must be a finite number from 0, got -1'],
    [{ defaultLifetimeMs: 0 }, 'defaultLifetimeMs must be a finite number from 1, got 0'],
    [{ defaultLifetimeMs: '300' }, "defaultLifetimeMs must be a number, got '300'"],
    [{ scope: 5 }, 'scope must be text, or a list of texts'],
    [{ scope: ['read', 5] }, 'scope must be words of visible ASCII characters'],
    [{ scope: 'read "all"' }, 'scope must be words of visible ASCII characters'],
    [{ parameters: 'audience=x' }, 'parameters must be an object, got string'],
    [{ parameters: new URLSearchParams('audience=x') }, 'parameters must be a plain object: use Object.fromEntries'],
    [{ parameters: { audience: undefined } }, 'parameters.audience must be a string, got undefined'],
    [{ parameters: { scope: 'read' } }, 'parameters must not hold scope: there are options for it'],
    [{ parameters: { grant_type: 'password' } }, 'parameters must not hold grant_type: there are options for it'],
    [{ account: '' }, 'account must not be empty'],
    [{ issuer: '' }, 'issuer must not be empty'],
    [{ transport: { timeout: 5 } }, 'transport has no timeout'],
    [{ allowInsecureHttp: 'yes' }, "allowInsecureHttp must be true or false, got 'yes'"],
    [{ audience: 'api' }, 'audience is no option: write parameters: { audience }'],
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
    ]
    expect(new Set(others.map(idOf)).size).toBe(others.length)
  })

  it('when the same is said in other words, then it is the same', () => {
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

  it('when it is asked for its origin, then it has none: the API is elsewhere', () => {
    expect(oauth2(given).origin).toBeUndefined()
  })

  it('when refreshTokens and reuseGraceMs are given, then the manager can read them', () => {
    expect(oauth2(given)).toMatchObject({ refreshTokens: 'single-use', reuseGraceMs: 0 })
    const options = { refreshTokens: 'reusable', reuseGraceMs: 30_000 } as const
    expect(oauth2({ ...given, ...options })).toMatchObject(options)
  })
})
